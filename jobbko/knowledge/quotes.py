"""Whether a quotation is really in its source: what a model claims and cannot show is dropped."""

from __future__ import annotations

import re

#: Of 100; a model that copies leaves out a filler word or mends a comma, and must not turn a sentence round.
ALIKE = 90
#: Characters, without spaces and signs; fewer are found in anything.
SHORTEST = 8


def found(quote: str, source: str) -> bool:
    """Whether these words are in the source, in this order, give or take a slip; case, spaces and signs apart."""
    from rapidfuzz import fuzz

    wanted, text = _words(quote), _words(source)
    if len(wanted.replace(" ", "")) < SHORTEST:
        return False
    if f" {wanted} " in f" {text} ":
        return True
    if len(wanted) > len(text):
        return False
    return fuzz.partial_ratio(wanted, text, score_cutoff=ALIKE) > 0 and _numbers(wanted) <= _numbers(text)


def named(name: str, source: str) -> bool:
    """Whether a name occurs in the source as words of its own."""
    wanted = _words(name)
    return bool(wanted) and f" {wanted} " in f" {_words(source)} "


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _numbers(text: str) -> set[str]:
    """A wrong number is no slip."""
    return set(re.findall(r"\d+", text))
