"""A scan of the music library, and what each track that it finds goes through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dramatiq import pipeline

from actors.music.artwork_download import artwork_download
from actors.music.audio_analysis import audio_analysis, unanalysed
from actors.music.filesystem_rescan import filesystem_rescan
from broker import follows
from pipelines import chain


def scan(root: str | None = None, *, full: bool = False) -> pipeline:
    """Scan one root, or all; then, for each track that has not been measured as it is now, measurement and cover."""
    # Alone in its flow: what follows is `each_track`, as after the nightly scan.
    return pipeline([filesystem_rescan.message(root=root, full=full)])


def refresh(track_id: str) -> pipeline:
    """One track, again."""
    return chain(audio_analysis.message(track_id=track_id), artwork_download.message(track_id=track_id))


@follows(filesystem_rescan)
def each_track(result: dict[str, Any]) -> Iterator[pipeline]:
    """What follows a scan: every track of its roots that waits for measurement, in the track's own collection.

    Not only what this scan found: one that was killed after writing half of it leaves the rest to the next.
    """
    for root in result["roots"]:
        if root["state"] not in ("absent", "empty"):
            for track_id in unanalysed([root["collection"]]):
                yield chain(
                    audio_analysis.message(track_id=track_id),
                    artwork_download.message(track_id=track_id),
                    collection=root["collection"],
                )
