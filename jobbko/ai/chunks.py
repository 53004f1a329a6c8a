"""Long text in pieces that end where a paragraph, a sentence or at least a word does. Nothing is left out."""

from __future__ import annotations

import re

#: From the best place to cut to the worst: after a blank line, a sentence (also a full-width one), a line, a word.
_PLACES = [re.compile(pattern) for pattern in (r"\n[ \t]*\n+", r"[.!?…]+[\"'”’»)\]]*\s+|[。！？]+", r"\n+", r"\s+")]
#: A place in the last part of a piece is good enough; a better kind of place before that would make it too short.
LAST = 0.5


def chunks(text: str, longest: int) -> list[str]:
    """Pieces of at most `longest` characters that make the text again when they are put together.

    ValueError unless longest is at least 1. No text is no piece.
    """
    if longest < 1:
        raise ValueError(f"a piece of at most {longest} characters holds nothing")
    pieces, start = [], 0
    while len(text) - start > longest:
        end = start + _cut(text[start : start + longest])
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]] if start < len(text) else pieces


def _cut(piece: str) -> int:
    """How many characters of a piece that has more behind it to take."""
    for place in _PLACES:
        ends = [found.end() for found in place.finditer(piece) if found.end() >= len(piece) * LAST]
        if ends:
            return ends[-1]
    return len(piece)
