"""Ends of jobs that the server does not take: found one by one, so that each holds up nobody but itself.

What the server will never take is buried. What somebody else has locked is set aside and tried again, a few at a time:
a transaction that an application left open on one row must not stop a worker.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable

import psycopg2

from jobbko import store
from jobbko.engine.database_errors import passing
from jobbko.engine.job import Job
from jobbko.engine.retries import message_of
from jobbko.store.queue import Ended, Turn

logger = logging.getLogger(__name__)

#: Milliseconds that a turn waits for a row that somebody else has locked, and that a single end does.
TURN_WAITS, ONE_WAITS = 200, 10
#: Seconds between two tries to write what is locked, and how many are tried then.
TRY_EVERY, TRY_MOST = 0.5, 20
#: Looks for an equal job that got in between.
EQUAL_TRIES = 5


class Refused:
    """write: one turn for these jobs alone; settle: they are no longer held."""

    def __init__(self, write: Callable[[list[Job]], Turn], settle: Callable[[list[Job], set[str]], None]) -> None:
        self.write = write
        self.settle = settle
        #: Over, and their rows in somebody else's hands.
        self.aside: deque[Job] = deque()
        self._tried_at = 0.0

    def one_by_one(self, batch: deque[Job]) -> None:
        """What is left in the batch when this raises is unwritten; the server is away."""
        store.run("select set_config('lock_timeout', %(ms)s, false)", ms=str(ONE_WAITS))
        tries = 0
        while batch:
            try:
                turn = self.write([batch[0]])
            except psycopg2.errors.LockNotAvailable:
                self.aside.append(batch.popleft())
                continue
            except psycopg2.errors.UniqueViolation as error:
                # An equal job was committed at this very moment; another look finds it, and the two become one.
                tries += 1
                if tries < EQUAL_TRIES:
                    continue
                turn = self._bury(batch[0], error)
            except Exception as error:
                if isinstance(error, psycopg2.Error) and passing(error):
                    raise
                turn = self._bury(batch[0], error)
            tries = 0
            self.settle([batch.popleft()], turn.lost)
        store.run("select set_config('lock_timeout', %(ms)s, false)", ms=str(TURN_WAITS))

    def again(self, *, now: bool = False) -> None:
        """Some of what is locked, if it is time; now: all of it."""
        if not self.aside or not (now or time.monotonic() - self._tried_at > TRY_EVERY):
            return
        batch = deque(self.aside.popleft() for _ in range(len(self.aside) if now else min(TRY_MOST, len(self.aside))))
        untried = len(self.aside)
        try:
            self.one_by_one(batch)
        finally:
            self.aside.extendleft(reversed(batch))
        if len(self.aside) > untried:  # still locked; otherwise the next few may go at once
            self._tried_at = time.monotonic()

    def _bury(self, job: Job, error: Exception) -> Turn:
        logger.exception("The end of %s %s is refused.", job.actor_name, job.message_id)
        job.following, job.result = [], None
        reason = f"its end could not be written: {message_of(error)}"[:2000]
        job.ended = Ended(id=job.message_id, token=job.token, state="rejected", charge=1, error=reason, outcome="dead")
        try:
            return self.write([job])
        except psycopg2.Error as refused:
            if passing(refused):
                raise
            # Not even that. Its lease will run out, and then it is charged as crashed.
            logger.critical("%s %s cannot be buried.", job.actor_name, job.message_id, exc_info=True)
            return Turn([], set(), None, False, None)
