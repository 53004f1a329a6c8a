"""Which known track a file is that a scan has found: told by its letters, by its content, or by what its tags say.

A track keeps its id, and so its plays, its features and its covers, when its file is moved, renamed, tagged anew or
replaced by another format. Only a track whose own file is gone can have become another file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jobbko.audio import folders
from jobbko.audio.folders import Found
from jobbko.store import dislikes, music_scan
from jobbko.store.music_scan import Known

#: From a path below the root to the file.
Where = Callable[[bytes], bytes]


def renamed(known: Sequence[Known], found: Found, here: set[bytes], where: Where) -> Known | None:
    """The track whose name differs only in how its letters are composed, if no file has its old name any more."""
    key = folders.key(found.path)
    same = (track for track in known if track.path_key == key and track.path not in here)
    return next((track for track in same if folders.is_gone(where(track.path))), None)


def moved(collection: str, new: Sequence[Found], contents: Mapping[bytes, bytes], where: Where) -> dict[bytes, Known]:
    """By new path: the track with that content whose own file is gone. A copy is not a move."""
    hashes = [contents[found.path] for found in new if contents[found.path]]
    candidates = music_scan.same_content(collection, hashes) if hashes else []
    pairs: dict[bytes, Known] = {}
    for found in new:
        same = [
            track
            for track in candidates
            if (track.content_hash, track.size) == (contents[found.path], found.size)
            and _has_left(where(track.path), where(found.path))
        ]
        if same:
            # Among equals, one that kept its file's name.
            best = max(same, key=lambda track: os.path.basename(track.path) == os.path.basename(found.path))
            candidates.remove(best)
            pairs[found.path] = best
    return pairs


def _has_left(old: bytes, new: bytes) -> bool:
    return folders.is_gone(old) or folders.is_same_file(old, new)


def returned(collection: str, described: Sequence[Mapping[str, Any]], where: Where) -> dict[bytes, Known]:
    """By new path: the track that is the same song by its tags, and whose own file is gone.

    The same place on the same release, or the same recording, or the same title, artist, album, disc and number; the
    length within three seconds. A song that was moved and tagged anew in one go, or encoded anew, is that.
    """
    taken, pairs = set[str](), dict[bytes, Known]()
    for path, track in music_scan.same_song(collection, described):
        if path not in pairs and track.id not in taken and folders.is_gone(where(track.path)):
            pairs[path] = track
            taken.add(track.id)
    return pairs


def unwanted(collection: str, new: Sequence[Found], contents: Mapping[bytes, bytes]) -> set[bytes]:
    """Paths whose content was deleted because somebody disliked it: it does not come back by lying there again."""
    buried = dislikes.buried(collection, [contents[found.path] for found in new if contents[found.path]])
    return {found.path for found in new if contents[found.path] in buried}
