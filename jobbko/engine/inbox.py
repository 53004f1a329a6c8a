"""Jobs on their way from the dispatcher to the worker threads of one queue."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from queue import Empty, SimpleQueue

from jobbko.engine.job import Job


class Inbox:
    """A turn's jobs arrive together and ring once; waking the reader for each would cost more than a short job."""

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._bell: SimpleQueue[None] = SimpleQueue()

    def put(self, jobs: Iterable[Job]) -> None:
        self._jobs.extend(jobs)
        self._bell.put(None)

    def get(self, timeout: float) -> Job | None:
        """The next job, or None after `timeout` seconds without one."""
        if not self._jobs:
            try:
                self._bell.get(timeout=timeout)
            except Empty:
                return None
        return self._jobs.popleft() if self._jobs else None  # a bell may ring for jobs that are already taken
