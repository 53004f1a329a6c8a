"""Read a file of subtitles (.srt, .vtt) as the transcript of a recording.

Safe to repeat: the same file makes no new version; a changed one does, and the old one is kept.
"""

from __future__ import annotations

import hashlib
from typing import Any

from broker import actor, completion
from jobbko.audio import media
from jobbko.errors import Charged
from jobbko.speech import subtitles
from jobbko.speech.subtitles import LARGEST
from jobbko.store import graph, transcripts
from jobbko.store.transcripts import Spoken

#: Lines that could not be understood, which the result tells of.
TOLD = 20


@actor(priority=5, dedupe=True)
def srt_parse(path: str, media_node_id: str) -> dict[str, Any]:
    node = graph.node(media_node_id)
    content = content_of(path)
    found = subtitles.read(content)
    spoken = [Spoken(round(cue.start * 1000), max(round(cue.end * 1000), round(cue.start * 1000) + 1), cue.text)
              for cue in found.cues]  # fmt: skip
    with completion() as done:
        new = transcripts.add(
            media_node_id,
            spoken,
            collection=node.collection_node_id,
            source="srt",
            input_sha256=hashlib.sha256(content).hexdigest(),
        )
        done.result = {
            "media_node_id": media_node_id,
            "kind": node.kind,
            "new": new,
            "segments": len(spoken),
            "overlapping": found.overlapping,
            "rejected": [{"line": line, "why": why} for line, why in found.rejected[:TOLD]],
        }
    return dict(done.result)


def content_of(path: str) -> bytes:
    """Missing if there is no such file; Charged("invalid") for one that is no file, cannot be read, or is too large."""
    with media.opened(path) as file:
        if file.size > LARGEST:
            raise Charged("invalid", f"{path} has {file.size} bytes; a file of subtitles has at most {LARGEST}")
        with open(file.fd, "rb", closefd=False) as content:
            return content.read(LARGEST)
