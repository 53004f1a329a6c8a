"""Text that came from a model, or goes to one: one Unicode form, nothing invisible, no more than was asked for."""

from __future__ import annotations

import unicodedata
from typing import Any

#: Marks that turn the direction of text (Unicode UAX #9) can make it read as what it is not.
_TURNS = {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A)), "\u061c", "\u200e", "\u200f"}
#: The deepest JSON that any job asks for.
DEEPEST = 32


def plain(text: str) -> str:
    """NFC, without control characters but line feed and tab, without halves of characters and turned directions."""
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(each for each in text if each in "\n\t" or not _unwanted(each))


def plain_all(value: Any, depth: int = 0) -> Any:
    """The same for every text inside a JSON value. ValueError if it is nested too deep."""
    if depth > DEEPEST:
        raise ValueError(f"nested deeper than {DEEPEST}")
    match value:
        case str():
            return plain(value)
        case list():
            return [plain_all(each, depth + 1) for each in value]
        case dict():
            return {plain(name): plain_all(each, depth + 1) for name, each in value.items()}
    return value


def _unwanted(character: str) -> bool:
    return character in _TURNS or unicodedata.category(character) in ("Cc", "Cs", "Co", "Cn")
