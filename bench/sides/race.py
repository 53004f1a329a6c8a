"""The rules that every side obeys: be told the task, get ready, be released, count, report.

Standard library only: it runs in every peer's own environment.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any


class Race:
    """One side's run: so many no-op jobs wait already, and a worker with so many threads does them."""

    def __init__(self) -> None:
        parser = argparse.ArgumentParser()
        parser.add_argument("url")
        parser.add_argument("jobs", type=int)
        parser.add_argument("threads", type=int)
        told = parser.parse_args()
        self.url: str = told.url
        self.jobs: int = told.jobs
        self.threads: int = told.threads
        self.all_ran = threading.Event()
        self._ran = itertools.count(1)
        self._started = 0.0

    def job_ran(self) -> None:
        """To be called by the job; `next` on a count is one step for all threads."""
        if next(self._ran) == self.jobs:
            self.all_ran.set()

    def wait_for_release(self) -> None:
        """All jobs wait in the queue. Returns when the clock runs: start the worker now."""
        print("ready", flush=True)
        sys.stdin.readline()
        self._started = time.perf_counter()

    def finish(self, unfinished: Callable[[], int], settings: dict[str, Any]) -> None:
        """Call it when the last job has run: the clock stops when the queue too knows that all are done."""
        while unfinished():
            time.sleep(0.005)
        self.report(time.perf_counter(), settings)

    def report(self, ended: float, settings: dict[str, Any]) -> None:
        seconds = ended - self._started
        print(json.dumps({"seconds": seconds, "jobs": self.jobs, "settings": settings}), flush=True)
        os._exit(0)  # how long a worker takes to shut down is another question
