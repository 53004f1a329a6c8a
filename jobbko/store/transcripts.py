"""What was said in a recording: versions of its transcript, in segments; the newest is current."""

from __future__ import annotations

from collections.abc import Sequence
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


@dataclass(frozen=True, slots=True)
class Current:
    version: int
    source: str
    input_sha256: str


@dataclass(frozen=True, slots=True)
class Spoken:
    """A segment to be."""

    start_ms: int
    end_ms: int
    text: str


def segments(media_node_id: str) -> list[Segment]:
    """Of the current version, in order; none if there is no transcript."""
    return store.many(Segment, sql["segments"], media_node_id=media_node_id)


def text(media_node_id: str) -> str:
    """What was said, a segment a line."""
    return "\n".join(each.text.strip() for each in segments(media_node_id))


def current(media_node_id: str) -> Current | None:
    return store.find(Current, sql["current"], media_node_id=media_node_id)


def add(
    media_node_id: str,
    spoken: Sequence[Spoken],
    *,
    collection: str,
    source: str,
    input_sha256: str,
    language: str = "",
    model: str = "",
) -> bool:
    """A new version, and now the current one; the old one is kept. False if that was made from exactly this.

    source: whisper or srt.
    """
    with store.transaction():
        store.run(sql["lock"], media_node_id=media_node_id)
        before = current(media_node_id)
        if before is not None and (before.source, before.input_sha256) == (source, input_sha256):
            return False
        store.run(sql["supersede"], media_node_id=media_node_id)
        transcription = store.value(
            sql["add"],
            media_node_id=media_node_id,
            collection=collection,
            language=language,
            model=model,
            source=source,
            duration_ms=max((each.end_ms for each in spoken), default=0),
            input_sha256=input_sha256,
        )
        store.run(
            sql["add_segments"],
            collection=collection,
            transcription_id=transcription,
            start_ms=[each.start_ms for each in spoken],
            end_ms=[each.end_ms for each in spoken],
            text=[each.text for each in spoken],
        )
        return True
