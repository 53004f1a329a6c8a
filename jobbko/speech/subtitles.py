"""Subtitle files: read .srt and .vtt as they are found in the wild, write them as they should be.

Read: any of UTF-8, UTF-16 and Windows-1252, any line ends, commas or dots, missing numbers, hours and milliseconds,
tags and coordinates. What cannot be a cue is left out and told with its line.
https://www.w3.org/TR/webvtt1/ and, for SubRip, which has no specification, what players take.
"""

from __future__ import annotations

import codecs
import html
import itertools
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from jobbko.errors import Charged

#: Bytes of a file, cues in it, and characters in one.
LARGEST = 10 * 1024 * 1024
MOST_CUES = 100_000
MOST_CHARACTERS = 2000
_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})(?:[,.](\d{1,3}))?"
_TIMES = re.compile(rf"^\s*{_TIME}\s*-+>\s*{_TIME}(?:\s.*)?$")
_TAGS = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_NOT_CUES = ("NOTE", "STYLE", "REGION", "WEBVTT")


@dataclass(frozen=True, slots=True)
class Cue:
    """Times in seconds from the beginning of the recording."""

    start: float
    end: float
    text: str


@dataclass
class Read:
    """overlapping: cues that begin before the one before has ended; rejected: lines that could not be understood."""

    cues: list[Cue] = field(default_factory=list)
    overlapping: int = 0
    rejected: list[tuple[int, str]] = field(default_factory=list)


def read(content: bytes) -> Read:
    """Cues in the order of their times. Charged("invalid") for a file that is too large or has no cue at all."""
    if len(content) > LARGEST:
        raise Charged("invalid", f"a file of subtitles has at most {LARGEST} bytes, and this one {len(content)}")
    lines = re.split(r"\r\n|\r|\n", text_of(content))
    starts = [number for number, line in enumerate(lines) if _TIMES.match(line)]
    found = Read()
    for number, end in itertools.pairwise([*starts, len(lines)]):
        _take(found, number, lines, end)
    found.rejected += [
        (number + 1, line.strip()[:80]) for number, line in enumerate(lines) if "-->" in line and not _TIMES.match(line)
    ]
    if not found.cues:
        raise Charged("invalid", "there is no cue in it, such as 00:00:01,000 --> 00:00:02,500 and a line of text")
    found.cues.sort(key=lambda cue: (cue.start, cue.end))
    found.overlapping = sum(later.start < one.end for one, later in itertools.pairwise(found.cues))
    return found


def text_of(content: bytes) -> str:
    """By its mark, as UTF-8, or as Windows-1252, which any bytes are."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _take(found: Read, number: int, lines: list[str], end: int) -> None:
    if len(found.cues) >= MOST_CUES:
        raise Charged("invalid", f"a file of subtitles has at most {MOST_CUES} cues")
    said = lines[number + 1 : end]
    while said and (not said[-1].strip() or (said[-1].strip().isdecimal() and end < len(lines))):
        blank = not said.pop().strip()
        if not blank:  # the number of the next cue, which stands once
            break
    text = tidy("\n".join(_without_notes(said)))
    match = _TIMES.match(lines[number])
    assert match is not None
    start, stop = _seconds(match.groups()[:4]), _seconds(match.groups()[4:])
    if not text:
        return
    if len(text) > MOST_CHARACTERS:
        found.rejected.append((number + 1, f"{len(text)} characters"))
        return
    found.cues.append(Cue(start, max(stop, start + 0.001), text))


def _without_notes(lines: list[str]) -> list[str]:
    """Up to a blank line that is followed by a comment or a style of WebVTT."""
    for place in range(1, len(lines)):
        if not lines[place - 1].strip() and lines[place].startswith(_NOT_CUES):
            return lines[:place]
    return lines


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = parts
    # ",5" is half a second and not five milliseconds.
    milliseconds = int((fraction or "0").ljust(3, "0"))
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0) + milliseconds / 1000


def tidy(text: str) -> str:
    """One line, without tags, entities and invisible characters."""
    plain = unicodedata.normalize("NFC", html.unescape(_TAGS.sub("", text)))
    shown = "".join(each if unicodedata.category(each) not in ("Cc", "Cs", "Cf") else " " for each in plain)
    return re.sub(r"\s+", " ", shown).strip()


def srt(cues: Iterable[Cue]) -> str:
    """SubRip: numbered from 1."""
    return "\n".join(
        f"{number}\n{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}\n{_escaped(cue.text)}\n"
        for number, cue in enumerate(cues, 1)
    )


def vtt(cues: Iterable[Cue]) -> str:
    """WebVTT."""
    return "WEBVTT\n\n" + "\n".join(
        f"{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{html.escape(_escaped(cue.text), quote=False)}\n"
        for cue in cues
    )


def _clock(seconds: float, point: str) -> str:
    milliseconds = round(seconds * 1000)
    rest, milliseconds = divmod(milliseconds, 1000)
    minutes, rest = divmod(rest, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest:02}{point}{milliseconds:03}"


def _escaped(text: str) -> str:
    """An arrow in a text would begin a cue."""
    return text.replace("-->", "->")
