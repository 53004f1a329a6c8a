"""What was said, in cues that can be read: at most 7 seconds and 84 characters each, cut between words.

The bounds are those of subtitling: two lines of 42 characters, and 7 seconds
(https://partnerhelp.netflixstudios.com/hc/en-us/articles/215758617).
"""

from __future__ import annotations

from collections.abc import Iterable

from jobbko.speech.heard import Said, Word
from jobbko.speech.subtitles import Cue, tidy

LONGEST = 7.0
MOST_CHARACTERS = 84
#: Where a cue likes to end.
_ENDS = (".", "!", "?", "…", ",", ";", ":")


def cues(said: Iterable[Said], offset: float = 0.0) -> list[Cue]:
    """Times in seconds from the beginning of the recording, in which the piece begins at `offset`. None overlaps."""
    found: list[Cue] = []
    for each in said:
        for group in _groups(_words(each)):
            start = offset + group[0].start
            if found:
                start = max(start, found[-1].end)
            text = tidy("".join(word.text for word in group))
            if text:
                found.append(Cue(start, max(offset + group[-1].end, start + 0.001), text))
    return found


def _words(said: Said) -> list[Word]:
    """Its words with their times; where those are not known, each as long as its share of the letters."""
    if said.words and tidy("".join(each.text for each in said.words)) == tidy(said.text):
        return list(said.words)
    texts = [f" {each}" for each in said.text.split()]
    letters = sum(map(len, texts)) or 1
    words, at = [], said.start
    for text in texts:
        until = at + (said.end - said.start) * len(text) / letters
        words.append(Word(at, until, text))
        at = until
    return words


def _groups(words: list[Word]) -> Iterable[list[Word]]:
    """Words together as long as they fit; else cut at the last mark in the second half, or where the cue is full."""
    group: list[Word] = []
    for word in words:
        if group and not _fits([*group, word]):
            cut = next(
                (at for at in range(len(group), len(group) // 2, -1) if group[at - 1].text.rstrip().endswith(_ENDS)),
                len(group),
            )
            yield group[:cut]
            group = group[cut:]
            while group and not _fits([*group, word]):
                yield [group.pop(0)]
        group.append(word)
    if group:
        yield group


def _fits(group: list[Word]) -> bool:
    text = tidy("".join(each.text for each in group))
    return len(text) <= MOST_CHARACTERS and group[-1].end - group[0].start <= LONGEST
