"""What was sent, running all of it, and letting time pass without waiting."""

from __future__ import annotations

from dramatiq import Broker

from jobbko.store import kit, queue
from jobbko.store.kit import Waiting
from jobbko.testing.worker import until, working


def sent(job_type: str | None = None) -> list[Waiting]:
    """The jobs that wait, in the order of sending: what the code under test has enqueued."""
    return kit.waiting(job_type)


def drain(broker: Broker, threads: int = 2, timeout: float = 30) -> None:
    """Run what is due, and what follows it, until nothing is; jobs for later stay. Needs committed rows."""
    with working(broker, threads):
        until(lambda: queue.unfinished() == 0, timeout)


def time_passes(seconds: float) -> None:
    """Jobs scheduled within so many seconds are due now, a retry's wait is over, a gate's pause has run down."""
    kit.time_passes(seconds)
