"""A job's end and all that comes of it are one transaction: completion, retry, dead letter, next steps, result.

This middleware stands last. Dramatiq walks the list backwards after a job, so `after_process_message` runs here first:
from then on this thread's `enqueue()` fills the job's list of followers instead of the table, and the list is written
with the job's end, fenced by its lease token. (Dramatiq swallows what is raised after a job and acknowledges it all
the same: a retry or a next step that failed to be sent at that moment would be lost, Bogdanp/dramatiq#545.)
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import dramatiq
from dramatiq import Broker

from jobbko import store
from jobbko.engine import job as threads
from jobbko.engine.interrupts import Cancelled
from jobbko.engine.job import Job
from jobbko.errors import LeaseLost
from jobbko.store import queue
from jobbko.store.queue import DEFAULT_COLLECTION, Ended


class UnitOfWork(dramatiq.Middleware):
    def before_process_message(self, broker: Broker, message: Job) -> None:
        if not message.take():
            # Given back meanwhile: Dramatiq then runs nothing, and the acknowledgement writes nothing.
            message.failed = True
            return
        message.started_at = time.monotonic()
        every_collection = message.broker.job_types.known[message.actor_name].every_collection
        threads.begin(message, every_collection=every_collection)

    def after_process_message(
        self, broker: Broker, message: Job, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        threads.end(message)
        message.result, message.exception = result, exception
        if store.abandoned() and exception is None:
            message.exception = RuntimeError("the job left a transaction open; what it wrote there is undone")

    def after_skip_message(self, broker: Broker, message: Job) -> None:
        threads.end(message)
        message.skipped = True
        if message.failed:  # AgeLimit: too old to be of use
            message.ended = Ended(
                id=message.message_id,
                token=message.token,
                state="rejected",
                cancelled=True,
                error="expired: it waited longer than its age limit",
            )


@dataclass
class Done:
    """What a job hands over inside `completion()`."""

    result: Any = None


@contextlib.contextmanager
def completion() -> Iterator[Done]:
    """Finish the running job together with its own writes, in one transaction: all of it happens once, or none.

        with completion() as done:
            music.set_features(track_id, features)
            done.result = {"bpm": 120}

    It is the outermost transaction, and once. Raises LeaseLost if another worker has the job by now, Cancelled if
    somebody has cancelled it; then nothing is written. Called outside a worker (a test calls the job like a function)
    it is a plain transaction.
    """
    job = threads.running()
    done = Done()
    if job is None:
        if threads.in_worker_process():
            raise RuntimeError("completion() works in the thread that runs the job, not in one that the job started")
        with store.transaction():
            yield done
        return
    if job.completing or store.in_transaction():
        raise RuntimeError("completion() is the outermost transaction of a job; it cannot be inside another")
    with _ending(job):
        yield done
        _finish(job, done.result)


def finish_with_many(job: Job) -> None:
    """The end of a job that is followed by more than the dispatcher should insert in one turn."""
    with _ending(job):
        _finish(job, job.result)
        queue.add(job.following)  # what the rule sent while it was asked


@contextlib.contextmanager
def _ending(job: Job) -> Iterator[None]:
    """A transaction that holds the job's row; from before it until after its commit nobody interrupts the job."""
    with job.lock:
        job.completing = True
    try:
        with store.transaction():
            match queue.hold(job.message_id, job.token):
                case None:
                    raise LeaseLost(f"{job.actor_name} {job.message_id} is not this worker's any more")
                case "cancelled":
                    raise Cancelled
            yield
        job.settled = True
    finally:
        job.completing = False


def _finish(job: Job, result: Any) -> None:
    for batch in job.broker.flows.batches(job, result):
        queue.add(batch)
    if not queue.complete(job.message_id, job.token, result):
        raise LeaseLost(f"{job.actor_name} {job.message_id} is not this worker's any more")


@dataclass(frozen=True, slots=True)
class Attempt:
    """number: 1 for the first; of: with this one the job is dead."""

    number: int
    of: int

    @property
    def is_last(self) -> bool:
        return self.number >= self.of


def attempt() -> Attempt:
    """Which attempt of the running job this is; the first of one outside a worker. Good for an idempotency key."""
    job = threads.running()
    return Attempt(1, 1) if job is None else Attempt(job.claimed.attempts + 1, job.claimed.max_attempts)


def collection() -> str:
    """The id of the running job's collection, into which it writes; of the default one outside a worker."""
    job = threads.running()
    return DEFAULT_COLLECTION if job is None else job.claimed.collection


#: Seconds between two writes of one job's progress.
REPORT_EVERY = 0.5


def report(**progress: Any) -> None:
    """Show how far the running job is, to whoever looks at its row: report(done=200, total=1000, note="tags").

    May be called as often as it is convenient: what comes sooner than half a second after the last is left out, unless
    it says that all is done. Nothing happens outside a worker.
    """
    job = threads.running()
    if job is None:
        return
    now = time.monotonic()
    if now - job.reported_at < REPORT_EVERY and progress.get("done") != progress.get("total", object()):
        return
    job.reported_at = now
    queue.set_progress(job.message_id, job.token, progress)
