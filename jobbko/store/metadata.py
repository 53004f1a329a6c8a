"""What is known of a library from outside it: what matched, the words of songs; who is due."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobbko import store
from jobbko.store.cleaning import Jsonb
from jobbko.store.music_rows import plain

sql = store.queries("metadata.sql")

#: Most ids that one statement reads.
PAGE = 500


@dataclass(frozen=True, slots=True)
class Song:
    """A track as its tags have it, to be compared with what a service describes."""

    id: str
    title: str
    titled: bool  # by its tags; else the title is the file's name
    artist_credit: str
    disc_no: int | None
    track_no: int | None
    duration_ms: int | None
    mb_recording_id: str | None
    mb_release_track_id: str | None
    mbid_source: str


@dataclass(frozen=True, slots=True)
class Album:
    id: str
    collection_node_id: str
    title: str
    artist_credit: str
    compilation: bool
    year: int | None
    mb_release_id: str | None
    mb_release_group_id: str | None
    mbid_source: str


@dataclass(frozen=True, slots=True)
class Lyrics:
    """synced_lrc: lines with their times, as in an .lrc file; instrumental: there is nothing to sing."""

    track_id: str
    source: str
    synced_lrc: str | None
    plain: str | None
    instrumental: bool
    language: str
    match_kind: str


def unrefreshed(collections: Sequence[str]) -> Iterator[str]:
    """Ids of the tracks that changed since their metadata was looked at; page by page, in the order of ids."""
    after = "00000000-0000-0000-0000-000000000000"
    while page := store.many(_Id, sql["unrefreshed"], collections=list(collections), after=after, limit=PAGE):
        yield from (row.id for row in page)
        after = page[-1].id


def forget_refreshed(collections: Sequence[str]) -> None:
    """Say that the metadata of all tracks in these collections is due."""
    store.run(sql["forget_refreshed"], collections=list(collections))


def set_refreshed(track_id: str, *, size: int, mtime_ns: int) -> None:
    """Say that the metadata of the file of that size and time was looked at."""
    store.run(sql["set_refreshed"], track_id=track_id, size=size, mtime_ns=mtime_ns)


def song(track_id: str) -> Song:
    return store.one(Song, sql["song"], track_id=track_id)


def songs(album_id: str) -> list[Song]:
    """The tracks of an album that are there, in order."""
    return store.many(Song, sql["songs"], album_id=album_id)


def album(album_id: str) -> Album:
    return store.one(Album, sql["album"], album_id=album_id)


def add_redirect(collection: str, old: str, new: str) -> None:
    """The service calls by a new id what files call by an old one."""
    store.run(sql["add_redirect"], collection=collection, old=old, new=new)


def set_album_match(
    album_id: str,
    *,
    release_id: str,
    group_id: str | None,
    source: str,
    distance: float,
    date: str,
    original_date: str,
    album_type: str,
    secondary_types: Sequence[str],
    country: str,
    barcode: str,
    disc_total: int,
) -> None:
    store.run(
        sql["set_album_match"],
        album_id=album_id,
        release_id=release_id,
        group_id=group_id,
        source=source,
        distance=distance,
        date=date,
        original_date=original_date,
        album_type=album_type,
        secondary_types=list(secondary_types),
        country=country,
        barcode=barcode,
        disc_total=disc_total or None,
    )


def set_track_matches(
    collection: str, matches: Sequence[Mapping[str, Any]], artists: Sequence[Mapping[str, Any]]
) -> None:
    """Write which recordings tracks are, and who is credited.

    matches: track_id, recording_id, release_track_id, distance, title, artist_credit, track_no, disc_no, isrc; the last
    five fill only what the tags leave open. artists: track_id, position, mb_artist_id, credited_as, join_phrase, name,
    sort_name, disambiguation.
    """
    with store.transaction():
        store.run(sql["set_track_matches"], rows=Jsonb(list(matches)))
        rows = [
            {**artist, "artist_key": f"name:{plain(artist['name'])}", "other_key": f"mb:{artist['mb_artist_id']}"}
            for artist in artists
        ]
        store.run(sql["save_matched_artists"], collection=collection, rows=Jsonb(rows))
        store.run(sql["forget_credits"], tracks=sorted({artist["track_id"] for artist in artists}))
        store.run(sql["save_matched_credits"], collection=collection, rows=Jsonb(rows))


def forget_matches(tracks: Sequence[str], album_id: str | None = None) -> None:
    """Take back what a search once matched; what tags say stays."""
    with store.transaction():
        if album_id is not None:
            store.run(sql["forget_album_match"], album_id=album_id)
        store.run(sql["forget_matched_credits"], tracks=list(tracks))
        store.run(sql["forget_track_matches"], tracks=list(tracks))


def set_lyrics(
    track_id: str,
    source: str,
    *,
    synced_lrc: str | None = None,
    plain: str | None = None,
    instrumental: bool = False,
    language: str = "",
    provider_id: str = "",
    match_kind: str = "",
    matched_duration_ms: int | None = None,
) -> None:
    """Keep the words that this source has; one row for each source, and nobody's own are touched."""
    store.run(
        sql["set_lyrics"],
        track_id=track_id,
        source=source,
        synced_lrc=synced_lrc,
        plain=plain,
        instrumental=instrumental,
        language=language,
        provider_id=provider_id,
        match_kind=match_kind,
        matched_duration_ms=matched_duration_ms,
    )


def forget_lyrics(track_id: str, source: str) -> None:
    """The source has none any more."""
    store.run(sql["forget_lyrics"], track_id=track_id, source=source)


def lyrics(track_id: str) -> list[Lyrics]:
    """What each source has, the best first: a person's, beside the file, in the file, from LRCLIB."""
    return store.many(Lyrics, sql["lyrics"], track_id=track_id)


@dataclass(frozen=True, slots=True)
class _Id:
    id: str
