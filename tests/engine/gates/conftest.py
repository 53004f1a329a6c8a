"""What the tests of gates share: a service that is asked, and what the gates say of it."""

from __future__ import annotations

import dramatiq
import pytest

from jobbko import store
from jobbko.store import gates


@pytest.fixture
def service(broker):
    """A service that answers what it is told to: an exception, or None for success. Each job asks it once."""

    class Service:
        answer: Exception | None = None
        asked: list[int] = []  # noqa: RUF012

    told = Service()
    told.asked = []

    @dramatiq.actor(gates=("llm",), max_attempts=5)
    def ask(n):
        told.asked.append(n)
        if told.answer is not None:
            raise told.answer

    @dramatiq.actor
    def local(n):
        told.asked.append(f"local {n}")

    told.ask, told.local = ask, local
    return told


def seconds_closed(gate):
    """From its closing to the time at which it opens or lets one job try."""
    (found,) = [each for each in gates.listing(all=True) if each.gate == gate]
    return (found.resume_at - found.since).total_seconds()


def time_is_up():
    store.run("update queue_state set resume_at = clock_timestamp() where closed and resume_at is not null")


def closed():
    return [(gate.gate, gate.reason) for gate in gates.listing()]


def close(gate, reason="outage", seconds=None):
    store.rows(
        "select gate_close(%(gate)s, %(reason)s, %(seconds)s, null, 'x', null)",
        gate=gate,
        reason=reason,
        seconds=seconds,
    )
