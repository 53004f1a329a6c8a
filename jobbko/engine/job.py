"""A claimed job as Dramatiq's worker threads see it: a message, its lease, and what became of it."""

from __future__ import annotations

import functools
import json
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from dramatiq import Message
from dramatiq.broker import MessageProxy

from jobbko import store
from jobbko.engine.interrupts import withdraw_interrupt
from jobbko.store.queue import Claimed, Ended, NewJob

if TYPE_CHECKING:
    from jobbko.engine.broker import PostgresBroker


P = ParamSpec("P")
R = TypeVar("R")


class Job(MessageProxy):
    """One attempt. Between claim and start it may be taken back; after its end it says what is to be written.

    Raises whatever the row's JSON raises that Python cannot read: 100,000 digits, a thousand brackets.
    """

    def __init__(self, claimed: Claimed, broker: PostgresBroker, queue_name: str) -> None:
        super().__init__(  # type: ignore[no-untyped-call]
            Message(
                queue_name=queue_name,
                actor_name=claimed.job_type,
                args=tuple(json.loads(claimed.args or "[]")),
                kwargs=json.loads(claimed.payload),
                # With an eta Dramatiq would park the message in its own memory; when it is due is in the row.
                options={name: said for name, said in json.loads(claimed.options or "{}").items() if name != "eta"},
                message_id=claimed.id,
                message_timestamp=claimed.created_ms,
            )
        )
        self.claimed = claimed
        self.broker = broker
        self.token = claimed.token
        self.claimed_at = time.monotonic()
        self.started_at: float | None = None
        self.reported_at = float("-inf")
        #: The thread that runs the job's function, while it does. Outside of that an interrupt would hit Dramatiq.
        self.thread: int | None = None
        self.interrupted = False
        #: Held by whoever interrupts the job, and while it leaves the reach of interrupts.
        self.lock = threading.Lock()
        #: Not ours any more: nothing may be written for it.
        self.lost = False
        #: Its end is being written by its own thread, and then: has been.
        self.completing = False
        self.settled = False
        #: A middleware says that it need not run.
        self.skipped = False
        self.result: Any = None
        self.exception: BaseException | None = None
        #: How it ended, if it is not simply done.
        self.ended: Ended | None = None
        #: What follows; inserted together with this job's end.
        self.following: list[NewJob] = []
        #: More follows than fits into a turn: the thread that ran the job writes its end itself.
        self.many = False
        #: The rule that says what follows has failed, and with it the job.
        self.rule_failed = False
        # Whoever pops the ticket decides: the thread that starts the job, or the dispatcher that takes it back.
        self._ticket = [None]

    @property
    def order(self) -> tuple[Any, ...]:
        """Its place among the jobs in this worker's memory: smaller starts earlier."""
        return (-self.claimed.priority, self.claimed.scheduled_at, self.claimed.seq)

    def take(self) -> bool:
        """True for the first caller only."""
        try:
            self._ticket.pop()
        except IndexError:
            return False
        return True

    @property
    def untaken(self) -> bool:
        return bool(self._ticket)


_thread = threading.local()
#: Workers that run in this process.
_workers: set[object] = set()


def worker_starts(worker: object) -> None:
    _workers.add(worker)


def worker_stops(worker: object) -> None:
    _workers.discard(worker)


def in_worker_process() -> bool:
    return bool(_workers)


def running() -> Job | None:
    """The job that the calling thread works for, from its start to its acknowledgement; None outside a worker."""
    return getattr(_thread, "job", None)


def ending() -> Job | None:
    """The job whose function has ended in this thread and that is not acknowledged yet: what is sent now follows it."""
    return running() if getattr(_thread, "ending", False) else None


def begin(job: Job, *, every_collection: bool = False) -> None:
    _thread.job, _thread.ending = job, False
    store.fence(None if every_collection else job.claimed.collection)


def end(job: Job) -> None:
    _leave_reach(job)
    _thread.ending = True


def interruptible(fn: Callable[P, R]) -> Callable[P, R]:
    """The function of a job. Only inside it can the job be interrupted: not while Dramatiq logs what it raised."""

    @functools.wraps(fn)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if (job := running()) is None or ending() is not None or job.thread is not None:
            return fn(*args, **kwargs)  # outside a worker, or called by another job's function
        try:
            job.thread = threading.get_ident()
            return fn(*args, **kwargs)
        finally:
            _leave_reach(job)

    return run


def _leave_reach(job: Job) -> None:
    with job.lock:
        job.thread = None
    # An interrupt that was sent a moment too late would hit the bookkeeping, or the next job.
    withdraw_interrupt()


def leave() -> None:
    """The calling thread works for no job."""
    store.fence(None)
    _thread.job, _thread.ending = None, False
