"""Cover pictures that are kept, and whose they are: a track's own, one disc's, a whole album's."""

from __future__ import annotations

from dataclasses import dataclass

from jobbko import store
from jobbko.store.music import Album, Track

sql = store.queries("artwork.sql")


@dataclass(frozen=True, slots=True)
class Artwork:
    """A kept picture; store_path is below the artwork folder."""

    id: str
    sha256: str
    mime: str
    width: int
    height: int
    bytes: int
    store_path: str


def add(collection: str, *, sha256: str, mime: str, width: int, height: int, size: int, store_path: str) -> str:
    """Its id; the same picture twice is one row."""
    return str(
        store.value(
            sql["add_artwork"],
            collection=collection,
            sha256=sha256,
            mime=mime,
            width=width,
            height=height,
            size=size,
            store_path=store_path,
        )
    )


def link_track(track: Track, artwork_id: str, *, source: str, source_url: str = "") -> None:
    """Make it the track's own picture, unless a person chose another."""
    store.run(
        sql["link_track"],
        track_id=track.id,
        artwork_id=artwork_id,
        collection=track.collection_node_id,
        source=source,
        source_url=source_url,
    )


def link_album(album: Album, artwork_id: str, *, source: str, source_url: str = "", disc_no: int | None = None) -> None:
    """Make it the front cover of the album, or of one of its discs: source folder always, others if there is none."""
    store.run(
        sql["link_album"],
        album_id=album.id,
        disc_no=disc_no,
        artwork_id=artwork_id,
        collection=album.collection_node_id,
        source=source,
        source_url=source_url,
    )


def link_album_by_its_tracks(album: Album) -> None:
    """Make the picture that most of its tracks hold the album's, unless its folder has one or a person chose."""
    store.run(sql["link_album_by_its_tracks"], album_id=album.id, collection=album.collection_node_id)


def get(artwork_id: str) -> Artwork:
    return store.one(Artwork, sql["artwork"], artwork_id=artwork_id)


def find_for_track(track_id: str) -> Artwork | None:
    return store.find(Artwork, sql["track_artwork"], track_id=track_id)
