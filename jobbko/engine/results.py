"""`message.get_result()`: a job's result is a column of its row, so there is nothing else to keep."""

from __future__ import annotations

import time
from typing import Any

from dramatiq import Message
from dramatiq.results import ResultBackend, ResultFailure, ResultMissing, ResultTimeout

from jobbko.store import queue

#: Seconds between two looks while somebody waits.
INTERVAL = 0.02


class QueueResults(ResultBackend):
    def store_result(self, message: Message[Any], result: Any, ttl: int) -> None:
        """The unit of work writes it, in the transaction that completes the job."""

    def store_exception(self, message: Message[Any], exception: BaseException, ttl: int) -> None:
        """Likewise."""

    def get_result(self, message: Message[Any], *, block: bool = False, timeout: int | None = None) -> Any:
        """The result; timeout in ms, 10 s if not stated. ResultFailure if the job is dead or cancelled."""
        deadline = time.monotonic() + (10_000 if timeout is None else timeout) / 1000
        while True:
            found = queue.outcome(message.message_id)
            if found is not None and found.status == "completed":
                return found.result
            if found is not None and found.status in ("error", "cancelled"):
                raise ResultFailure(found.error_msg or found.status)
            if not block:
                raise ResultMissing(message)
            if time.monotonic() > deadline:
                raise ResultTimeout(message)
            time.sleep(INTERVAL)
