"""Read a track's tags again, then ask MusicBrainz which recording on which release it is.

By the ids in the tags, else by a search whose finds are compared track by track; an album is decided on as a whole, for
all its tracks. Tags are their owner's word: what MusicBrainz says fills what they leave open, and no file is written.
Safe to repeat: a question that was answered is not asked again before its answer has aged, or the album has changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from broker import actor
from jobbko.audio import folders, tags
from jobbko.audio.content import content_hash
from jobbko.catalogue import albums, recordings
from jobbko.clients import musicbrainz
from jobbko.store import metadata, music, music_rows, music_scan


# One at a time, over all workers: there is one request a second, and two tracks of an album would ask the same.
@actor(priority=5, dedupe=True, max_running=1)
def metadata_refresh(track_id: str) -> dict[str, Any]:
    track = music.track(track_id)
    found = folders.look(track.root, track.path, library=f"library:{track.collection_node_id}")
    reread(track, found)
    new_ids = musicbrainz.configured() and look_up(music.track(track_id))
    metadata.set_refreshed(track_id, size=found.st_size, mtime_ns=found.st_mtime_ns)
    song = metadata.song(track_id)
    return {"track_id": track_id, "new_ids": new_ids, "recording": song.mb_recording_id, "source": song.mbid_source}


def unrefreshed(collections: Sequence[str]) -> Iterator[str]:
    """Ids of the tracks in these collections that this job is due for, read page by page."""
    return metadata.unrefreshed(collections)


def forget_refreshed(root: str | None) -> None:
    """Make this job due for every track of one root, or of all."""
    paths = music_scan.root_paths() if root is None else [os.fsencode(root)]
    known = [found for path in paths if (found := music_scan.find_root(path)) is not None]
    metadata.forget_refreshed([found.collection_node_id for found in known])


def reread(track: music.Track, found: os.stat_result) -> None:
    """Write the tags as they are now, before anybody is asked: a service that is away holds none of that up."""
    said = asdict(tags.read(track.file)) | {
        "path": track.path,
        "size": found.st_size,
        "mtime_ns": found.st_mtime_ns,
        "content_hash": content_hash(track.file, found.st_size),
    }
    music_scan.save(track.collection_node_id, music_rows.collect([said]))


def look_up(track: music.Track) -> bool:
    """Whether it has brought ids that were not known."""
    if track.album_id is not None:
        return albums.look_up(track.album_id)
    return recordings.look_up(track.id, track.collection_node_id)
