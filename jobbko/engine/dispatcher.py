"""One thread for each worker process talks to the queue: it writes what has ended and claims what is next, in one call.

It claims for idle threads. Only when jobs are very short it looks ahead, by about LOOK_AHEAD seconds of work, since
then the round trip costs more than the job; what it holds is in exact order, and what waits too long is given back.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING

import psycopg2
from psycopg2.extensions import connection as Connection

from jobbko import settings, store
from jobbko.engine.database_errors import passing
from jobbko.engine.interrupts import Cancelled, interrupt
from jobbko.engine.job import Job
from jobbko.engine.refused import TRY_EVERY, TURN_WAITS, Refused
from jobbko.engine.retries import ended
from jobbko.store import pool, queue
from jobbko.store.queue import Claimed, Ended, Turn

if TYPE_CHECKING:
    from jobbko.engine.broker import PostgresBroker

logger = logging.getLogger(__name__)

#: Seconds of work that are claimed ahead, and the most jobs that may be.
LOOK_AHEAD = 0.02
MOST_AHEAD = 64
#: Seconds after which a job that was claimed ahead and still has no thread is given back.
STALE = 0.1
#: Jobs that are written in one turn.
BATCH = 512
#: Seconds between two looks for scheduled jobs that have become due, while there is other work.
PROMOTE_EVERY = 0.1
#: Seconds to wait before another worker that holds a limit has probably let go of it.
CONTENDED = 0.01
#: Seconds between two tries to reach the server.
RECONNECT = 0.5


class Dispatcher(threading.Thread):
    def __init__(self, broker: PostgresBroker, worker: str, capacity: int, types: Callable[[], list[str]]) -> None:
        super().__init__(name="dispatcher", daemon=True)
        self.broker = broker
        self.worker = worker
        self.capacity = capacity
        self.types = types
        #: Every job leased to this process, until the turn that ends it has committed.
        self.held: dict[str, Job] = {}
        self.holding = threading.Lock()
        self.draining = False
        self._stopping = False
        self._ended: deque[Job] = deque()
        self._refused = Refused(lambda jobs: self._write(jobs, 0, promote=False), self._settle)
        self._served: list[str] | None = None
        self._mean = 1.0  # seconds that a job takes, smoothed
        self._promoted_at = 0.0
        self._asleep = False
        self._bell, self._ringer = os.pipe()
        os.set_blocking(self._ringer, False)

    def ends(self, job: Job) -> None:
        """The job's thread is free; its end is written with the next turn, and the row stays leased until then."""
        if job.started_at is not None:
            self._mean += 0.05 * (time.monotonic() - job.started_at - self._mean)
        self._ended.append(job)
        self._wake()

    def forget(self, job: Job) -> None:
        """Nothing is to be written for it."""
        with self.holding:
            if self.held.get(job.message_id) is job:
                del self.held[job.message_id]
        self._wake()

    def drain(self) -> None:
        """Claim nothing more; what no thread has begun goes back at once, free of charge."""
        self.draining = True
        self._wake()

    def stop(self) -> None:
        """Write what has ended, give back what is still running, and end the thread."""
        self._stopping = True
        self._wake()
        self.join(timeout=30)

    def run(self) -> None:
        while not (self._stopping and not self._ended):
            try:
                conn = pool.connect()
                try:
                    with store.using(conn):
                        self._serve(conn)
                finally:
                    conn.close()
            except psycopg2.Error as error:
                logger.warning("The queue cannot be reached, trying again: %s", str(error).strip())
                time.sleep(RECONNECT)
                if self._stopping:
                    return  # the leases run out; nothing is lost
            except Exception:
                logger.exception("The dispatcher stumbled and goes on.")
                time.sleep(RECONNECT)

    def _serve(self, conn: Connection) -> None:
        with conn.cursor() as cursor:
            cursor.execute(f"set lock_timeout = {TURN_WAITS}; listen jobbko; listen jobbko_cancel")
        queue.worker_started(self.worker, socket.gethostname(), os.getpid(), self.capacity, self.types())
        with self.holding:
            tokens = [job.token for job in self.held.values()]
        if unseen := queue.give_back(self.worker, tokens):
            logger.info("Gave back %d jobs that were leased while the connection broke.", unseen)
        while True:
            if self.draining:
                self._give_back([job for job in self._holdings() if job.untaken])
            elif len(self.held) > self.capacity:
                self._give_back(self._stale())
            self._refused.again(now=self._stopping)
            if self._stopping and not self._ended:
                self._settle(list(self._refused.aside), set())  # locked to the last; they run again after their lease
                self._give_back(self._holdings(), running=True)
                queue.worker_stopped(self.worker)
                return
            self._wait(conn, self._turn())

    def _turn(self) -> float:
        """Write and claim once. Seconds that the dispatcher may sleep now."""
        batch = [self._ended.popleft() for _ in range(min(len(self._ended), BATCH))]
        want = 0 if self.draining else self._room(len(batch))
        if not batch and want <= 0:
            return settings.POLL_INTERVAL
        promote = time.monotonic() - self._promoted_at > PROMOTE_EVERY or not batch
        try:
            turn = self._write(batch, want, promote)
        except Exception as error:
            locked = isinstance(error, psycopg2.errors.LockNotAvailable)
            if locked and not batch:
                return STALE
            if not batch or (isinstance(error, psycopg2.Error) and passing(error) and not locked):
                self._ended.extendleft(reversed(batch))
                raise
            left = deque(batch)
            try:
                self._refused.one_by_one(left)
            finally:
                self._ended.extendleft(reversed(left))
            return 0
        if promote:
            self._promoted_at = time.monotonic()
        self._settle(batch, turn.lost)
        if want > 0:
            self._served = turn.served
        self._hand_out(turn.jobs)
        if want <= 0:
            return settings.POLL_INTERVAL
        if len(turn.jobs) >= want:
            return 0  # there may be more
        if turn.contended:
            return CONTENDED
        return settings.POLL_INTERVAL if turn.next_due is None else min(settings.POLL_INTERVAL, turn.next_due)

    def _hand_out(self, jobs: list[Claimed]) -> None:
        for queue_name, mine in groupby(jobs, key=lambda claimed: self.broker.get_actor(claimed.job_type).queue_name):
            ready = [job for claimed in mine if (job := self._read(claimed, queue_name)) is not None]
            with self.holding:
                self.held.update((job.claimed.id, job) for job in ready)
            self.broker.inboxes[queue_name].put(ready)

    def _read(self, claimed: Claimed, queue_name: str) -> Job | None:
        """The job; or its row is a dead letter, because nobody here can read it, and holds up nobody else."""
        try:
            return Job(claimed, self.broker, queue_name)
        except Exception as error:
            logger.exception("%s %s cannot be read.", claimed.job_type, claimed.id)
            unreadable = Ended(id=claimed.id, token=claimed.token, state="rejected", charge=1, outcome="dead")
            unreadable["error"], unreadable["class"] = f"its row cannot be read: {error}"[:2000], "invalid"
            queue.turn([], [unreadable], [], [], 0, self.worker, settings.LEASE, None, False)
            return None

    def _room(self, ending: int) -> int:
        at_work = len(self.held) - ending - len(self._ended) - len(self._refused.aside)
        ahead = min(MOST_AHEAD, int(self.capacity * LOOK_AHEAD / max(self._mean, 1e-6)))
        return self.capacity + ahead - at_work

    def _write(self, batch: list[Job], want: int, promote: bool) -> Turn:
        plain, others, following = [], [], []
        for job in batch:
            if job.ended is not None:
                others.append(job.ended)
            elif job.result is not None:
                others.append(Ended(id=job.message_id, token=job.token, state="done", result=job.result))
            else:
                plain.append((job.claimed.id, job.token))
            following.extend(job.following)
        return queue.turn(
            plain, others, following, self.types(), max(want, 0), self.worker, settings.LEASE, self._served, promote
        )

    def _settle(self, batch: list[Job], lost: set[str]) -> None:
        with self.holding:
            for job in batch:
                if self.held.get(job.claimed.id) is job:
                    del self.held[job.claimed.id]
        for job in batch if lost else ():
            if job.message_id in lost:
                logger.warning("%s %s: the lease was lost; nothing was written.", job.actor_name, job.message_id)

    def _stale(self) -> list[Job]:
        """Claimed ahead, and the jobs before them turned out to be long: some other worker may be idle."""
        long_ago = time.monotonic() - STALE
        stale = [job for job in self._holdings() if job.untaken and job.claimed_at < long_ago]
        if stale:
            self._mean = max(self._mean, STALE)
        return stale

    def _give_back(self, jobs: list[Job], *, running: bool = False) -> None:
        """To the queue, free of charge. A running job only when the process is about to end."""
        given = [job for job in jobs if job.take() or running]
        items = [Ended(id=job.message_id, token=job.token, state="queued", charge=0, delay=None) for job in given]
        for job, item in zip(given, items, strict=True):
            if running and not job.untaken and job.started_at is not None:
                item["outcome"], item["class"], item["error"] = "refunded", "shutdown", "the worker was stopped"
        self._write_off(given, items)

    def _drop(self, jobs: list[Job]) -> None:
        """Cancelled before they began."""
        self._write_off(
            jobs,
            [ended(job, Cancelled(), "rejected", outcome="cancelled", kind="cancelled", charge=0) for job in jobs],
        )

    def _write_off(self, jobs: list[Job], items: list[Ended]) -> None:
        """No longer this worker's. If that does not get through, whoever reconnects gives it back."""
        if not jobs:
            return
        for job in jobs:
            job.lost = True
        try:
            queue.turn([], items, [], [], 0, self.worker, settings.LEASE, None, False)
            queue.ring()
        finally:
            self._settle(jobs, set())

    def _holdings(self) -> list[Job]:
        with self.holding:
            return list(self.held.values())

    def _wake(self) -> None:
        if self._asleep:
            self._asleep = False
            os.write(self._ringer, b"!")

    def _wait(self, conn: Connection, seconds: float) -> None:
        """Until something ends, the doorbell rings, or the time is over."""
        if seconds <= 0:
            return
        if len(self.held) > self.capacity:
            seconds = min(seconds, STALE)
        if self._refused.aside:
            seconds = min(seconds, TRY_EVERY)
        self._asleep = True
        # A doorbell that rang during the turn was read with its answer, and the socket says nothing of it any more.
        to_do = self._heard(conn) or self._ended or self._stopping or (self.draining and self._any_untaken())
        if not to_do and self._bell in pool.readable(conn.fileno(), self._bell, seconds=seconds):
            os.read(self._bell, 4096)
        self._asleep = False
        conn.poll()
        self._heard(conn)

    def _heard(self, conn: Connection) -> bool:
        """Whether the doorbell rang; jobs that somebody has cancelled or deleted are interrupted at once."""
        channels = {note.channel for note in conn.notifies}
        conn.notifies.clear()
        # Any login can notify and listen, so the notification does not say which: the rows do.
        if "jobbko_cancel" in channels and (held := self._holdings()):
            running = queue.running({job.message_id: job.token for job in held})
            stopped = [job for job in held if job.message_id not in running]
            self._drop([job for job in stopped if job.take()])
            for job in stopped:
                interrupt(job)
        return bool(channels)

    def _any_untaken(self) -> bool:
        return any(job.untaken for job in self._holdings())
