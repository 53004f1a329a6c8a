"""When a provider may be asked again: what its headers, its error or its words say about that."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from zoneinfo import ZoneInfo

#: Seconds; no wait is shorter or longer, whatever a provider says.
SHORTEST, LONGEST = 1.0, 3600.0
#: A budget that is renewed later than this is not renewed.
_FURTHEST = timedelta(days=366)
#: Above this, a number of seconds since 1970 is one of milliseconds.
_MILLISECONDS = 10_000_000_000

_EPOCH = re.compile(r"limit reached\|(\d{9,13})\b")
_CLOCK = re.compile(r"\bresets (?:at )?(\d{1,2})(?::(\d{2}))? ?([ap])m(?: \(([\w/+-]+)\))?", re.IGNORECASE)
_RESETS = re.compile(r"\bresets\b", re.IGNORECASE)


def utc(now: datetime | None) -> datetime:
    """Now, unless another time is given; a time without a zone is one of UTC."""
    if now is None:
        return datetime.now(UTC)
    return now.replace(tzinfo=UTC) if now.tzinfo is None else now.astimezone(UTC)


def next_midnight(now: datetime) -> datetime:
    """00:00 UTC, when a day's budget is new."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def retry_after(headers: Mapping[str, str], said: Iterable[Any], now: datetime) -> float | None:
    """Seconds, or None. The header comes first (RFC 9110 10.2.3: a number or a date), then what the error says.

    `retry-after-ms` is OpenAI's (its SDK reads it first).
    """
    named = {name.lower(): value for name, value in headers.items()}
    milliseconds = _seconds(named.get("retry-after-ms"), now)
    found = [None if milliseconds is None else milliseconds / 1000, _seconds(named.get("retry-after"), now)]
    found += [_seconds(each, now) for each in said]
    return next((clamped(each) for each in found if each is not None), None)


def resets_at(value: Any, now: datetime) -> datetime | None:
    """A time to come, as ISO 8601 or in seconds or milliseconds since 1970; None for anything else."""
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else _since_1970(value)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    at = utc(at)
    return at if now < at < now + _FURTHEST else None


def until(value: Any, now: datetime) -> float | None:
    """Seconds until a time in milliseconds since 1970, as OpenRouter's X-RateLimit-Reset gives it."""
    at = resets_at(int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 16 else value, now)
    return None if at is None else clamped((at - now).total_seconds())


def limit_reset(text: str, now: datetime) -> float | None:
    """Seconds until a seat's limit is renewed, as `claude -p` tells it.

    `usage limit reached|1762952400` (claude-code #11429), `You've hit your session limit · resets 12:50am
    (America/Los_Angeles)` (#74079). If it names a day (`resets Jul 18 at 12am`), the longest wait.
    """
    if epoch := _EPOCH.search(text):
        return until(int(epoch[1]), now)
    if not _RESETS.search(text):
        return None
    if (found := _CLOCK.search(text)) is None:
        return LONGEST
    try:
        local = now.astimezone(ZoneInfo(found[4]) if found[4] else UTC)
        at = local.replace(hour=int(found[1]) % 12 + 12 * (found[3] in "pP"), minute=int(found[2] or 0), second=0)
    except (ValueError, KeyError, OSError):  # no such hour, or no zone of that name on this machine
        return LONGEST
    return clamped(((at if at > local else at + timedelta(days=1)) - local).total_seconds())


def clamped(seconds: float) -> float:
    return min(max(seconds, SHORTEST), LONGEST)


def _seconds(value: Any, now: datetime) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
        return number if math.isfinite(number) else None
    except (ValueError, OverflowError):
        pass
    try:
        return (utc(parsedate_to_datetime(str(value))) - now).total_seconds()
    except (TypeError, ValueError, OverflowError):
        return None


def _since_1970(value: Any) -> datetime:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
