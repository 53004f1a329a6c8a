"""Find the cover of a track and its album: in the file, in its folder, else at the Cover Art Archive, else at Discogs.

Safe to repeat: pictures are named by their content, an album that has a cover asks nobody, and what the services do
not have is not asked for again for a month.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from broker import actor, completion
from jobbko import settings
from jobbko.audio import folders, matching, pictures
from jobbko.clients import coverart, discogs
from jobbko.errors import Missing, Throttled
from jobbko.store import artwork, lookups, music
from jobbko.store.lookups import Question

#: Seconds that "there is no cover" holds.
ABSENT = 30 * 24 * 3600
#: Pixels of the longer side of the small copies, for lists and for pages.
THUMBNAILS = (160, 600)
#: A Discogs release whose names are farther from ours than this is another one.
SAME_NAME = 0.1


@dataclass(frozen=True, slots=True)
class Found:
    """place: whose picture it is."""

    picture: pictures.Picture
    source: str
    place: Literal["track", "disc", "album"]
    address: str = ""


@actor(priority=1, dedupe=True)
def artwork_download(track_id: str) -> dict[str, Any]:
    track = music.track(track_id)
    album = music.album(track.album_id) if track.album_id else None
    found = list(local(track))
    if not found and album is not None and album.artwork_id is None:
        found = [each for each in [download(track, album)] if each is not None]
    if not found:
        return {"found": False}
    paths = [keep(each.picture) for each in found]
    with completion() as done:
        ids = [add(track, each.picture, path) for each, path in zip(found, paths, strict=True)]
        for each, artwork_id in zip(found, ids, strict=True):
            link(track, album, artwork_id, each)
        done.result = {"found": True, "source": found[0].source, "artwork_id": ids[0]}
    return dict(done.result)


def local(track: music.Track) -> Iterator[Found]:
    """The first usable picture in the file, in the folder of its disc and in that of its album."""
    folders.look(track.root, track.path, library=f"library:{track.collection_node_id}")
    of_album, of_disc = pictures.folders(track.file, track.root)
    if (own := _first(pictures.embedded(track.file))) is not None:
        yield Found(own, "embedded", "track")
    if of_disc is not None and (found := _first(pictures.lying_in(of_disc))) is not None:
        yield Found(found, "folder", "disc")
    if (found := _first(pictures.lying_in(of_album))) is not None:
        yield Found(found, "folder", "album")


def _first(candidates: Iterator[bytes]) -> pictures.Picture | None:
    return next(filter(None, map(pictures.check, candidates)), None)


def download(track: music.Track, album: music.Album) -> Found | None:
    """The first usable front cover of the release, else of its release group, else of a release of that name.

    One track asks for its album; the others need not, and go on without.
    """
    places = [
        ("coverart", _provider(group), mbid, _covers(mbid, group))
        for mbid, group in ((album.mb_release_id, False), (album.mb_release_group_id, True))
        if mbid is not None
    ]
    if discogs.configured() and album.title and album.artist_credit:
        places.append(("discogs", "discogs", f"{album.artist_credit}/{album.title}", _named(album)))
    for source, provider, asked, covers in places:
        if (found := _asked(track, album, provider, asked, covers)) is not None:
            return Found(found[1], source, "album", found[0])
    return None


def _asked(
    track: music.Track, album: music.Album, provider: str, asked: str, covers: Iterator[tuple[str, bytes]]
) -> tuple[str, pictures.Picture] | None:
    """(address, picture) of the first that is usable."""
    question = Question("album", album.id, provider, asked, album.collection_node_id)
    if not lookups.begin(question, by=track.id):
        return None
    try:
        for address, data in covers:
            if (picture := pictures.check(data)) is not None:
                return address, picture
    except BaseException:
        lookups.give_up(question)
        raise
    lookups.answer(question, found=False, ttl=ABSENT)
    return None


def _covers(mbid: str, group: bool) -> Iterator[tuple[str, bytes]]:
    try:
        yield from coverart.front_covers(mbid, group=group)
    except Missing:
        return  # the archive does not know it: an answer, to be remembered


def _provider(group: bool) -> str:
    return "coverart:release-group" if group else "coverart:release"


def _named(album: music.Album) -> Iterator[tuple[str, bytes]]:
    """Covers of the Discogs releases that are called the same; a search there finds whatever is alike."""
    wanted = f"{album.artist_credit} - {matching.EDITION.sub('', album.title)}"
    found = discogs.search(matching.EDITION.sub("", album.title), album.artist_credit)
    yield from discogs.covers([address for name, address in found if matching.names(name, wanted) <= SAME_NAME])


def keep(picture: pictures.Picture) -> str:
    """Store it under the name of its content, with small copies beside it. The path is below the artwork folder."""
    name = hashlib.sha256(picture.data).hexdigest()
    path = Path(name[:2], name + picture.suffix)
    small = {folder() / thumbnail_path(str(path), size): size for size in THUMBNAILS}
    copies = {target: pictures.thumbnail(picture, size) for target, size in small.items() if not target.exists()}
    try:
        # The picture comes last: where it is, its copies are.
        for target, data in (copies | {folder() / path: picture.data}).items():
            if not target.exists():
                _write(target, data)
    except OSError as error:
        # A full or read-only disk is no fault of the job's: it waits for room, free of charge.
        raise Throttled("artwork-folder", message=f"cannot write to {folder()}: {error.strerror or error}") from error
    return str(path)


def thumbnail_path(store_path: str, size: int) -> str:
    """Below the artwork folder too; size is one of THUMBNAILS."""
    return f"{os.path.splitext(store_path)[0]}-{size}.webp"


def _write(target: Path, data: bytes) -> None:
    """It appears there all at once, or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".part")
    try:
        with open(handle, "wb") as out:
            os.fchmod(out.fileno(), 0o644)
            out.write(data)
        os.replace(partial, target)
    except BaseException:
        os.unlink(partial)
        raise


def folder() -> Path:
    return settings.ARTWORK_DIR or settings.data_dir() / "artwork"


def add(track: music.Track, picture: pictures.Picture, store_path: str) -> str:
    return artwork.add(
        track.collection_node_id,
        sha256=hashlib.sha256(picture.data).hexdigest(),
        mime=picture.mime,
        width=picture.width,
        height=picture.height,
        size=len(picture.data),
        store_path=store_path,
    )


def link(track: music.Track, album: music.Album | None, artwork_id: str, found: Found) -> None:
    """A picture in the file is the track's own, and the album's if most of its tracks hold it."""
    if found.place == "track" or album is None:
        artwork.link_track(track, artwork_id, source=found.source, source_url=found.address)
        if album is not None:
            artwork.link_album_by_its_tracks(album)
    elif found.place == "disc":
        _, of_disc = pictures.folders(track.file, track.root)
        number = track.disc_no or (of_disc and pictures.disc_number(of_disc)) or 1
        artwork.link_album(album, artwork_id, source=found.source, disc_no=number)
    else:
        artwork.link_album(album, artwork_id, source=found.source, source_url=found.address)
