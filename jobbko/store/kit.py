"""The queue as the test kit sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jobbko import store

sql = store.queries("kit.sql")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job that waits; due_in: seconds, 0 if it is due."""

    id: str
    job_type: str
    payload: dict[str, Any]
    priority: int
    dedupe_key: str | None
    subject: str | None
    collection: str
    due_in: float


def waiting(job_type: str | None = None) -> list[Waiting]:
    """In the order of sending."""
    return store.many(Waiting, sql["waiting"], job_type=job_type)


def time_passes(seconds: float) -> None:
    """For the queue: what is scheduled comes nearer, leases and pauses run down."""
    store.run(sql["time_passes"], seconds=seconds)
    store.run(sql["time_passes_at_gates"], seconds=seconds)
