"""What a speech server heard, read from its answer; and what it only imagined, left out.

The answer is OpenAI's `verbose_json` (https://platform.openai.com/docs/api-reference/audio/verbose-json-object), with
the words inside their segments (faster-whisper, whisper.cpp) or beside them (OpenAI); or plain `json`, or subtitles.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from jobbko.errors import Charged
from jobbko.speech import subtitles

#: Whisper's own bounds for silence: it is taken for such if both hold (openai/whisper, transcribe.py).
NO_SPEECH, LOG_PROBABILITY = 0.6, -1.0
#: The same text so many times in a row is a loop of the model and not what somebody said.
LOOP = 3


@dataclass(frozen=True, slots=True)
class Word:
    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """Times in seconds from the beginning of the piece; words: none if the server tells of none."""

    start: float
    end: float
    text: str
    words: tuple[Word, ...] = ()


def said(body: Any, seconds: float) -> list[Said]:
    """In order, inside the piece of that length. Charged("invalid") for an answer of another form."""
    match body:
        case {"segments": [*segments]}:
            found = list(_segments(segments, seconds))
            words = [word for each in _list(body.get("words")) if (word := _word(each, seconds)) is not None]
            if words and not any(each.words for each in found):
                found = [_with_words(each, words) for each in found]
        case {"text": str(text)}:
            found = [Said(0, seconds, text)] if text.strip() else []
        case str(text) if "-->" in text:
            cues = subtitles.read(text.encode()).cues
            found = [Said(min(cue.start, seconds), min(cue.end, seconds), cue.text) for cue in cues]
        case _:
            raise Charged("invalid", f"the speech server's answer is no transcript: {str(body)[:200]!r}")
    return without_loops(each for each in found if subtitles.tidy(each.text) and each.end > each.start)


def without_loops(found: Iterable[Said]) -> list[Said]:
    """Where the same text comes LOOP times or more in a row, the first of them."""
    kept: list[Said] = []
    for _, group in itertools.groupby(found, key=lambda each: subtitles.tidy(each.text).casefold()):
        same = list(group)
        kept += same if len(same) < LOOP else same[:1]
    return kept


def _segments(given: list[Any], seconds: float) -> Iterable[Said]:
    for each in given:
        match each:
            case {"start": start, "end": end, "text": str(text)} if _time(start) and _time(end):
                if _number(each, "no_speech_prob", 0) > NO_SPEECH and _number(each, "avg_logprob", 0) < LOG_PROBABILITY:
                    continue
                words = [word for one in _list(each.get("words")) if (word := _word(one, seconds)) is not None]
                yield Said(min(max(0, start), seconds), min(end, seconds), text, tuple(words))


def _with_words(segment: Said, words: list[Word]) -> Said:
    """The words whose middle lies in the segment."""
    return replace(
        segment,
        words=tuple(each for each in words if segment.start <= (each.start + each.end) / 2 < segment.end),
    )


def _word(given: Any, seconds: float) -> Word | None:
    match given:
        case {"start": start, "end": end, "word": str(text)} if _time(start) and _time(end):
            return Word(min(max(0, start), seconds), min(end, seconds), text)
    return None


def _list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else []


def _time(given: Any) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)


def _number(given: dict[str, Any], name: str, default: float) -> float:
    return float(given[name]) if _time(given.get(name)) else default
