"""The line before the model: one recording is heard, a few wait, and whoever comes then is told when to come again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from jobbko.whisper.transcriber import Stopped

Answer = TypeVar("Answer")

#: Requests that may wait beside the one that is answered.
WAITING = 8


class Full(Exception):
    """retry_after: seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after


class Line:
    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="whisper")
        self.taken = 0

    async def answer(self, work: Callable[[threading.Event], Answer], gone: Callable[[], Awaitable[bool]]) -> Answer:
        """What `work` returns, in its turn; it gets an event that is set when `gone` says that nobody waits any more.

        Full if the line is; Stopped if nobody waited.
        """
        if self.taken > WAITING:
            raise Full(retry_after=10 * self.taken)
        self.taken += 1
        stop = threading.Event()
        running = asyncio.get_running_loop().run_in_executor(self._thread, lambda: _unless(stop, work))
        try:
            while not (await asyncio.wait({running}, timeout=0.5))[0]:
                if await gone():
                    stop.set()
            return await running
        except asyncio.CancelledError:
            stop.set()
            raise
        finally:
            self.taken -= 1


def _unless(stop: threading.Event, work: Callable[[threading.Event], Answer]) -> Answer:
    if stop.is_set():
        raise Stopped
    return work(stop)
