"""One row: what a provider sent, and what it means. The tables beside this file are full of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from jobbko.clients.reply import Reply

#: When everything in the tables was received, and when the day after begins.
NOW = datetime(2026, 9, 20, 21, 30, tzinfo=UTC)
MIDNIGHT = datetime(2026, 9, 21, tzinfo=UTC)


@dataclass(frozen=True)
class Row:
    what: str
    provider: str
    status: int | None
    body: Any
    #: None: it can be used.
    kind: str | None
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Exception | None = None
    exit_code: int | None = None
    #: The verdict's retry_after and resume_at.
    seconds: float | None = None
    until: datetime | None = None
    #: What its message contains.
    says: str = ""

    @property
    def reply(self) -> Reply:
        return Reply(self.provider, self.status, self.headers, self.body, self.error, self.exit_code)


def of(provider: str) -> Callable[..., Row]:
    """(what, status, body, kind, …) of this provider."""

    def row(what: str, status: int | None, body: Any, kind: str | None, **more: Any) -> Row:
        return Row(f"{provider}: {what}", provider, status, body, kind, **more)

    return row


def cli(what: str, body: Any, kind: str | None, *, exit_code: int = 1, **more: Any) -> Row:
    return Row(f"cli: {what}", "cli", None, body, kind, exit_code=exit_code, **more)


openai, openrouter, anthropic = map(of, ("openai", "openrouter", "anthropic"))
