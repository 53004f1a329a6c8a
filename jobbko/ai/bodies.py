"""An answer as the ledger keeps it: whole, but without keys, and not endless."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobbko.ai.wording import without_secrets

#: Characters of one text that are kept; an error page of a proxy is of no use beyond that.
LONGEST = 200_000
DEEPEST = 64


def storable(body: Any, secrets: Iterable[str]) -> Any:
    """The same JSON with every text cleaned; what lies deeper than 64 levels is left out."""
    return _without(body, [secret for secret in secrets if secret], 0)


def _without(value: Any, secrets: list[str], depth: int) -> Any:
    if depth > DEEPEST:
        return "…"
    match value:
        case str():
            return without_secrets(value[:LONGEST], secrets)
        case list():
            return [_without(each, secrets, depth + 1) for each in value]
        case dict():
            return {
                without_secrets(str(name), secrets): _without(each, secrets, depth + 1) for name, each in value.items()
            }
    return value
