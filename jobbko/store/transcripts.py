"""What was said in a recording: the current version of its transcript, in segments."""

from __future__ import annotations

from dataclasses import dataclass

from jobbko import store

sql = store.queries("transcripts.sql")


@dataclass(frozen=True, slots=True)
class Segment:
    """speaker: "" if it is not known."""

    id: str
    start_ms: int
    end_ms: int
    text: str
    speaker: str


def segments(media_node_id: str) -> list[Segment]:
    """Of the current version, in order; none if there is no transcript."""
    return store.many(Segment, sql["segments"], media_node_id=media_node_id)


def text(media_node_id: str) -> str:
    """What was said, a segment a line."""
    return "\n".join(each.text.strip() for each in segments(media_node_id))
