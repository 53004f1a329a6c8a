"""The vectors in an answer: as many as texts, all of one length, every number finite."""

from __future__ import annotations

import math
from typing import Any

from jobbko.clients.reply import Reply
from jobbko.errors import Charged


def there(reply: Reply) -> bool:
    """Whether it is an answer with vectors at all, and not an error."""
    return reply.status == 200 and isinstance(reply.body, dict) and isinstance(reply.body.get("data"), list)


def of(reply: Reply, count: int) -> list[list[float]]:
    """In the order of the texts, which `index` says. Charged("invalid") if anything is missing or is no number."""
    data: list[Any] = reply.body["data"]
    found: dict[int, list[float]] = {}
    for place, each in enumerate(data):
        match each:
            case {"embedding": [*numbers]} if all(map(_finite, numbers)):
                found[each.get("index", place)] = [float(number) for number in numbers]
    vectors = [found.get(place, []) for place in range(count)]
    if len(data) != count or not all(vectors) or len({len(vector) for vector in vectors}) != 1:
        raise Charged("invalid", f"{count} texts were sent, and what came back are not {count} vectors of one length")
    return vectors


def _finite(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
