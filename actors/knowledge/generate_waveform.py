"""The waveform of a recording, for players to draw.

Safe to repeat: the same sound is kept once. Without a node the recording is known by its path.
"""

from __future__ import annotations

from typing import Any

from broker import actor, collection, completion
from jobbko.audio.peaks import peaks
from jobbko.store import graph
from jobbko.store import peaks as waveforms


@actor(priority=1, dedupe=True)
def generate_waveform(audio_path: str, media_node_id: str | None = None) -> dict[str, Any]:
    node = graph.node(media_node_id) if media_node_id else None
    found = peaks(audio_path)
    with completion() as done:
        owner = node.collection_node_id if node else collection()
        media = node.id if node else graph.media(audio_path, collection=owner)
        new = waveforms.keep(
            media,
            collection=owner,
            sha256=found.sha256,
            length=found.length,
            duration_ms=found.duration_ms,
            dat=found.dat,
        )
        done.result = {
            "media_node_id": media,
            "new": new,
            "length": found.length,
            "duration_ms": found.duration_ms,
        }
    return dict(done.result)
