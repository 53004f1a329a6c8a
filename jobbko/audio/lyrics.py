"""The words of a song: in its tags, or in an .lrc or .txt file beside it; and whether they have times.

LRC: a line starts with the time or times at which it is sung, [mm:ss.xx]; [offset:+/-ms] shifts them all.
https://en.wikipedia.org/wiki/LRC_(file_format)
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import Any

from jobbko.audio import folders
from jobbko.audio.tags import open_file

#: Bytes: a longer file beside a song is no song's words.
MOST_BYTES = 1024 * 1024
_TIME = re.compile(r"\[(\d{1,3}):(\d{1,2})(?:[.:](\d{1,3}))?\]")
_SUFFIXES = (b".lrc", b".txt")


@dataclass(frozen=True, slots=True)
class Words:
    """synced_lrc: lines with times; plain: lines without. One of them, or both."""

    synced_lrc: str | None
    plain: str | None
    language: str = ""


def read(text: str, language: str = "") -> Words | None:
    """What the text is, by itself: with times if most of its lines have one. None if there is nothing to sing in it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "").strip("\ufeff \n\t")
    lines = [line for line in text.split("\n") if line.strip() and not re.fullmatch(r"\[[a-z#]+:.*\]", line.strip())]
    if not lines:
        return None
    timed = sum(1 for line in lines if _TIME.match(line.strip()))
    if timed * 2 < len(lines) or not any(_TIME.sub("", line).strip() for line in lines):
        return Words(None, text, language) if timed * 2 < len(lines) else None
    return Words(text, plain(text), language)


def plain(lrc: str) -> str | None:
    """The words without their times, in the order in which they are sung."""
    timed = sorted((at, place, line) for place, (at, line) in enumerate(_timed(lrc)))
    return "\n".join(line for *_, line in timed).strip() or None


def last_second(lrc: str) -> float:
    """When the last line starts; 0 without times."""
    return max((at for at, _ in _timed(lrc)), default=0.0)


def _timed(lrc: str) -> list[tuple[float, str]]:
    """(seconds, words) of each line, once for each time it is sung."""
    found = []
    for line in lrc.splitlines():
        words = re.sub(r"<\d+:\d+\.\d+>", "", _TIME.sub("", line)).strip()
        found += [(_seconds(time), words) for time in _TIME.finditer(line)]
    return found


def _seconds(time: re.Match[str]) -> float:
    minutes, seconds, part = time.groups()
    return int(minutes) * 60 + int(seconds) + (int(part) / 10 ** len(part) if part else 0)


def embedded(path: bytes) -> Words | None:
    """In the tags: text with times before text without, whichever frame or field it is in."""
    file = open_file(path)
    found = [words for text, language in _stored(file) if (words := read(text, language)) is not None]
    return next((words for words in found if words.synced_lrc), found[0] if found else None)


def _stored(file: Any) -> list[tuple[str, str]]:
    """(text, language) of everything that claims to be lyrics, format by format."""
    tags = getattr(file, "tags", None)
    if tags is None:
        return []
    from mutagen.id3 import ID3
    from mutagen.mp4 import MP4Tags

    match tags:
        case ID3():
            return [
                *((_lrc(frame.text), frame.lang) for frame in tags.getall("SYLT") if frame.format == 2),
                *((frame.text, frame.lang) for frame in tags.getall("USLT")),
                *(
                    (text, "")
                    for key in ("TXXX:LYRICS", "TXXX:UNSYNCEDLYRICS")
                    for frame in tags.getall(key)
                    for text in frame.text
                ),
            ]
        case MP4Tags():
            return [(text, "") for text in tags.get("\xa9lyr", ())]
        case _:
            names = ("syncedlyrics", "lyrics", "unsyncedlyrics", "unsynced lyrics", "wm/lyrics")
            lower = {str(name).lower(): name for name in tags.keys()}  # noqa: SIM118  not every format's is a dict
            return [(str(text), "") for name in names if name in lower for text in _each(tags[lower[name]])]


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _lrc(timed: list[tuple[str, int]]) -> str:
    """SYLT: (words, milliseconds); a line feed starts each line."""
    return "\n".join(
        f"[{at // 60000:02}:{at // 1000 % 60:02}.{at % 1000 // 10:02}]{text.strip()}" for text, at in timed
    )


def beside(path: bytes) -> Words | None:
    """In a file of the same name that ends in .lrc or .txt, however its letters are composed and cased."""
    folder, stem = os.path.dirname(path), os.path.splitext(os.path.basename(path))[0]
    wanted = [folders.key(stem + suffix).casefold() for suffix in _SUFFIXES]
    names = {folders.key(name).casefold(): name for name in os.listdir(folder)}
    texts = (_text(os.path.join(folder, names[key])) for key in wanted if key in names)
    return next((words for text in texts if text is not None and (words := read(text)) is not None), None)


def _text(file: bytes) -> str | None:
    """Its content, if it is an ordinary file of sensible size; a link could lead anywhere and is not followed."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as content:
            about = os.fstat(content.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_BYTES:
                return None
            raw = content.read(MOST_BYTES)
    except OSError:
        return None
    for encoding in ("utf-8-sig", "utf-16") if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("cp1252", "replace")
