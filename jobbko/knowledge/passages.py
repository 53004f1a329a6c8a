"""Text cut into passages that are embedded one by one, each a little into the next, ending where a sentence does."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from jobbko.ai.chunks import chunks

#: Characters. E5 reads 512 tokens, which is some 1,500 characters of English and fewer of most other languages.
LONGEST = 900
#: What a passage repeats of the one before, so that what is said across a cut is found too.
OVERLAP = 150
#: Passages of speech are shorter: what was asked for is to be found to within half a minute.
SPOKEN = 400


class Spoken(Protocol):
    """A segment of a transcript."""

    @property
    def start_ms(self) -> int: ...
    @property
    def text(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Passage:
    """start_ms: where it begins in a recording; None for written text."""

    text: str
    start_ms: int | None = None

    @property
    def content_hash(self) -> bytes:
        return hashlib.sha256(self.text.encode()).digest()


def written(title: str, text: str) -> list[Passage]:
    """Passages of at most LONGEST characters and what they repeat. No text is no passage."""
    found, before = [], ""
    for piece in chunks(text.strip(), LONGEST):
        found.append(Passage(f"{before}{piece}".strip()))
        before = _tail(piece)
    return [Passage(f"{title}\n{each.text}") if title else each for each in found if each.text]


def spoken(segments: Iterable[Spoken]) -> list[Passage]:
    """Segments together, in their order, up to SPOKEN characters; none is cut."""
    return [
        Passage(" ".join(each.text.strip() for each in group), group[0].start_ms)
        for group in _groups(each for each in segments if each.text.strip())
    ]


def _groups(segments: Iterator[Spoken]) -> Iterator[list[Spoken]]:
    group: list[Spoken] = []
    for each in segments:
        if group and sum(len(said.text) + 1 for said in group) + len(each.text) > SPOKEN:
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def _tail(piece: str) -> str:
    """The last sentences of a piece that are within OVERLAP; its last words, if its last sentence is longer."""
    tail = piece[-OVERLAP:]
    if len(tail) == len(piece):
        return ""  # a piece that short is all context already
    for mark in (". ", "! ", "? ", "\n", " "):
        if mark in tail.rstrip():
            return tail[tail.index(mark) + len(mark) :]
    return tail
