"""Pieces of recordings that have been transcribed, until their recordings are."""

from __future__ import annotations

from collections.abc import Sequence

from jobbko import store
from jobbko.store.cleaning import Jsonb

sql = store.queries("pieces.sql")
#: start, end, text: seconds from the beginning of the piece.
Heard = tuple[float, float, str]


def find(collection: str, sha256: str) -> list[Heard] | None:
    """What was heard in it; None if nobody has listened yet."""
    found = store.value(sql["find"], collection=collection, sha256=sha256)
    return None if found is None else [(start, end, text) for start, end, text in found]


def keep(collection: str, sha256: str, cues: Sequence[Heard]) -> None:
    store.run(sql["keep"], collection=collection, sha256=sha256, cues=Jsonb(list(cues)))


def forget(collection: str, sha256: Sequence[str]) -> None:
    """The recording that they are of is done."""
    store.run(sql["forget"], collection=collection, sha256=list(sha256))
