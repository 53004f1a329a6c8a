"""Find the cover of a track and its album: in the file, in its folder, else at the Cover Art Archive.

Safe to repeat: pictures are named by their content, an album that has a cover asks nobody, and what the archive does
not have is not asked for again for a month.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from broker import actor, completion
from jobbko import settings
from jobbko.audio import folders, pictures
from jobbko.clients import coverart
from jobbko.errors import Missing
from jobbko.store import music

#: Seconds that "there is no cover" holds.
ABSENT = 30 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Found:
    picture: pictures.Picture
    source: str
    address: str = ""


@actor(priority=1, dedupe=True)
def artwork_download(track_id: str) -> dict[str, Any]:
    track = music.track(track_id)
    album = music.album(track.album_id) if track.album_id else None
    found = local(track)
    if found is None and album is not None and album.artwork_id is None:
        found = download(album)
    if found is None:
        return {"found": False}
    store_path = keep(found.picture)
    with completion() as done:
        artwork_id = music.add_artwork(
            track.collection_node_id,
            sha256=hashlib.sha256(found.picture.data).hexdigest(),
            mime=found.picture.mime,
            width=found.picture.width,
            height=found.picture.height,
            size=len(found.picture.data),
            store_path=store_path,
        )
        link(track, album, artwork_id, found)
        done.result = {"found": True, "source": found.source, "artwork_id": artwork_id}
    return dict(done.result)


def local(track: music.Track) -> Found | None:
    """The first usable picture in the file, else beside it."""
    folders.look(track.root, track.path, library=f"library:{track.collection_node_id}")
    for data in pictures.embedded(track.file):
        if (picture := pictures.check(data)) is not None:
            return Found(picture, "embedded")
    for data in pictures.beside(track.file, track.root):
        if (picture := pictures.check(data)) is not None:
            return Found(picture, "folder")
    return None


def download(album: music.Album) -> Found | None:
    """The first usable front cover of the release, else of its release group. Without ids, nobody is asked."""
    for mbid, group in ((album.mb_release_id, False), (album.mb_release_group_id, True)):
        provider, collection = _provider(group), album.collection_node_id
        if mbid is None or music.known_to_lack("album", album.id, provider=provider, asked=mbid, collection=collection):
            continue
        for address, data in _covers(mbid, group):
            if (picture := pictures.check(data)) is not None:
                return Found(picture, "coverart", address)
        music.set_lookup(
            *("album", album.id),
            provider=provider,
            asked=mbid,
            collection=collection,
            status="not_found",
            ttl=ABSENT,
        )
    return None


def _covers(mbid: str, group: bool) -> Iterator[tuple[str, bytes]]:
    try:
        yield from coverart.front_covers(mbid, group=group)
    except Missing:
        return  # the archive does not know it: an answer, to be remembered


def _provider(group: bool) -> str:
    return "coverart:release-group" if group else "coverart:release"


def keep(picture: pictures.Picture) -> str:
    """Store it under the name of its content; it appears there all at once. The path is below the artwork folder."""
    name = hashlib.sha256(picture.data).hexdigest()
    path = Path(name[:2], name + picture.suffix)
    target = folder() / path
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".part")
        try:
            with open(handle, "wb") as out:
                os.fchmod(out.fileno(), 0o644)
                out.write(picture.data)
            os.replace(partial, target)
        except BaseException:
            os.unlink(partial)
            raise
    return str(path)


def folder() -> Path:
    return settings.ARTWORK_DIR or settings.data_dir() / "artwork"


def link(track: music.Track, album: music.Album | None, artwork_id: str, found: Found) -> None:
    """A picture of its own stays the track's own; the album gets the first."""
    if found.source == "embedded" or album is None:
        music.link_track(track, artwork_id, source=found.source, source_url=found.address)
    if album is not None:
        music.link_album(album, artwork_id, source=found.source, source_url=found.address)
