"""What Postgres cannot hold is taken out on the way in: NUL and lone surrogates in text, NaN and infinities in JSON.

Titles, error messages and models' answers come from strangers. A job whose failure could not be written down would
be neither retried nor dead (a NUL in an exception text does that to dramatiq-pg), so every parameter passes here.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from psycopg2.extras import Json

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class Jsonb(Json):
    """A value for a jsonb column: cleaned, and anything that JSON does not know becomes its text."""

    def dumps(self, obj: Any) -> str:
        try:
            dumped = json.dumps(obj, allow_nan=False)
        except (TypeError, ValueError):
            return json.dumps(storable(obj), allow_nan=False)
        # Written as escapes; a backslash that only looks like one costs a second look, no more.
        return json.dumps(storable(obj)) if "\\u0000" in dumped or "\\ud" in dumped else dumped


def clean(param: Any) -> Any:
    """A parameter as Postgres can hold it."""
    if isinstance(param, str):
        return text(param)
    if isinstance(param, list):
        return [clean(item) for item in param]
    return param


def text(raw: str) -> str:
    """NUL is dropped; a lone surrogate becomes U+FFFD, so that something shows where it stood."""
    if _UNSTORABLE.search(raw) is None:
        return raw
    return _UNSTORABLE.sub(lambda found: "" if found[0] == "\x00" else "\ufffd", raw)


def storable(value: Any) -> Any:
    """The same JSON value, all the way down, with what jsonb refuses replaced."""
    match value:
        case str():
            return text(value)
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {text(str(key)): storable(item) for key, item in value.items()}
        case list() | tuple():
            return [storable(item) for item in value]
        case None | bool() | int() | float():
            return value
        case _:
            return text(str(value))
