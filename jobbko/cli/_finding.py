"""One thing that `jobbko doctor` has found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """state: ok, note (works, but something is left out) or fault; remedy: what to do."""

    subject: str
    state: str
    said: str
    remedy: str = ""
