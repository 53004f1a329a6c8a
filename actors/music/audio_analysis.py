"""Measure how a track sounds: tempo, key, energy, loudness, melody; then `audio_features_ready` is true.

A file that cannot be measured is an answer, not a failure: its row says why.
Safe to repeat: a file that this version has judged as it is now is not measured again, and a track has one row.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from broker import actor, completion
from jobbko import audio
from jobbko.audio import analysis, folders
from jobbko.store import music


@actor(priority=7, dedupe=True, time_limit=600_000)
def audio_analysis(track_id: str) -> dict[str, Any]:
    track = music.track(track_id)
    found = present(track)
    if (judged := verdict(track_id, found)) is not None:
        return {"status": judged.status, "measured": False}
    measured = analysis.measure(track.file)
    if measured["status"] != "ok":
        present(track)  # a disk that went away meanwhile says nothing about the file
    with completion() as done:
        music.set_features(
            track_id,
            analyzer=audio.ANALYZER,
            version=audio.VERSION,
            size=found.st_size,
            mtime_ns=found.st_mtime_ns,
            measured=measured,
        )
        done.result = {"measured": True} | {name: measured.get(name) for name in _TOLD}
    return dict(done.result)


#: What the job's result repeats of its row.
_TOLD = ("status", "reason", "bpm", "key_name", "energy", "lufs")


def unanalysed(collections: Sequence[str]) -> Iterator[str]:
    """Ids of the tracks in these collections that this job would measure, read page by page."""
    return music.unanalysed(collections, analyzer=audio.ANALYZER, version=audio.VERSION, available=audio.available())


def present(track: music.Track) -> os.stat_result:
    """The file as it is now; while its disk is away the job waits, and that is not charged."""
    return folders.look(track.root, track.path, library=f"library:{track.collection_node_id}")


def verdict(track_id: str, found: os.stat_result) -> music.Features | None:
    """What is known about the file as it is, unless an engine that was absent then is here now."""
    known = music.find_features(track_id, audio.ANALYZER)
    if known is None or known.analyzer_version < audio.VERSION:
        return None
    if (known.source_size, known.source_mtime_ns) != (found.st_size, found.st_mtime_ns):
        return None
    return None if known.status == "unavailable" and audio.available() else known
