"""A worker inside the test's own process: real threads, a real queue, no waiting by the clock.

with working(broker):
    until(lambda: seen == [1, 2, 3])
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from weakref import WeakSet

from dramatiq import Broker, Worker

#: Brokers that were told; a process boots once, however many workers a test starts in it.
_booted: WeakSet[Broker] = WeakSet()


@contextlib.contextmanager
def working(broker: Broker, threads: int = 2) -> Iterator[Worker]:
    """Run the broker's jobs until the block ends; then stop as a deployment would."""
    if broker not in _booted:
        _booted.add(broker)
        broker.emit_after("process_boot")  # as `dramatiq` does; time limits start their clock here
    before = list(broker.middleware)
    worker = Worker(broker, worker_threads=threads, worker_timeout=10)
    worker.start()
    try:
        yield worker
    finally:
        worker.stop(timeout=10_000)
        broker.middleware[:] = before  # a worker leaves its own behind


def until(condition: Callable[[], bool], timeout: float = 15) -> None:
    """Return as soon as the condition holds; AssertionError if it does not within `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)
