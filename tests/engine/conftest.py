"""Fixtures of the engine's tests: a broker of one's own on a database of one's own, and what its rows say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import dramatiq
import pytest

from jobbko import settings, store
from jobbko.engine import PostgresBroker


@dataclass
class Row:
    """What the tests look at in job_queue."""

    id: str
    job_type: str
    payload: dict[str, Any]
    status: str
    priority: int
    result: Any
    error_msg: str | None
    attempts: int
    max_attempts: int
    step: int
    flow_id: str


@pytest.fixture
def broker(database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresBroker]:
    before = dramatiq.broker.global_broker
    own = PostgresBroker()
    dramatiq.set_broker(own)
    monkeypatch.setattr(settings, "POLL_INTERVAL", 0.2)
    yield own
    dramatiq.set_broker(before)


def rows(where: str = "true", **params: Any) -> list[Row]:
    return store.many(
        Row,
        "select id, job_type, payload, status::text as status, priority, result, error_msg, attempts, max_attempts,"
        f" step, flow_id from job_queue where {where} order by seq",
        **params,
    )


#: How many wait for a lock, in this test's database.
WAITING = """
select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
"""


def statuses() -> list[str]:
    return [row.status for row in rows()]


def all_are(*wanted: str) -> bool:
    return all(status in wanted for status in statuses())


def failures() -> list[tuple[Any, ...]]:
    """(attempt, outcome, class) of every attempt that failed, in order."""
    return store.rows("select attempt, outcome, class from job_attempt_failed order by ended_at")
