"""Dramatiq's Broker on Postgres: the place of dramatiq-pg's, with its constructor, its table and its producers.

What is kept of dramatiq-pg is the ground it stands on; its consumer, its acknowledgement, its delay queue, its advisory
locks and its results are replaced (docs/adr/0002-dramatiq-pg-kept-and-replaced.md says why each of them).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from itertools import islice
from typing import Any

import dramatiq
import dramatiq_pg
import psycopg2
from dramatiq import Actor, Message
from dramatiq.broker import MessageProxy
from dramatiq.middleware import AgeLimit, Callbacks, MiddlewareError, ShutdownNotifications, TimeLimit
from dramatiq.results import Results
from psycopg2.extensions import make_dsn

from jobbko import settings, store
from jobbko.engine.consumer import Consumer
from jobbko.engine.database_errors import connection_lost
from jobbko.engine.fan_in import FanIn
from jobbko.engine.flows import Flows, Rule
from jobbko.engine.inbox import Inbox
from jobbko.engine.job import ending, interruptible
from jobbko.engine.job_types import JobTypes
from jobbko.engine.new_job import new_job, next_step
from jobbko.engine.results import QueueResults
from jobbko.engine.retries import Retries
from jobbko.engine.schedules import Schedules
from jobbko.engine.unit_of_work import UnitOfWork
from jobbko.engine.worker_process import WorkerProcess
from jobbko.store import queue

logger = logging.getLogger(__name__)

#: Its name since Dramatiq 2.1, and before.
BrokerUnreachable: type[Exception] = (
    getattr(dramatiq.errors, "BrokerConnectionError", None) or dramatiq.errors.ConnectionError
)
#: Tries of one enqueue when the connection breaks; safe, since the id is the key.
ENQUEUE_TRIES = 4
#: Rows in one INSERT of `enqueue_many`.
ENQUEUE_BATCH = 2000
#: Times that a job is sent which has an equal at one moment and none, and is not added, at the next.
SEND_TRIES = 50


def default_middleware() -> list[dramatiq.Middleware]:
    """In order; no Prometheus: metrics come from one exporter over the tables."""
    return [
        AgeLimit(),
        TimeLimit(),
        ShutdownNotifications(),
        Callbacks(),
        Results(backend=QueueResults(), store_results=True),
        Retries(),
    ]


class PostgresBroker(dramatiq_pg.PostgresBroker):  # type: ignore[misc]
    """Parameters: url (libpq URL or dict; empty means DATABASE_URL or the embedded Postgres), or pool (a psycopg2
    pool, of which the address is taken), middleware. `results` is accepted and always on: a job's result is a column.

    Raises ValueError for a schema or prefix other than dramatiq-pg's defaults.
    """

    def __init__(
        self,
        *,
        pool: Any = None,
        url: str | dict[str, Any] = "",
        results: bool = True,
        schema: str | None = None,
        prefix: str | None = None,
        middleware: list[dramatiq.Middleware] | None = None,
    ) -> None:
        if schema not in (None, "dramatiq") or prefix not in (None, ""):
            raise ValueError(
                f"schema={schema!r}, prefix={prefix!r}: jobs are in the table job_queue; dramatiq-pg's own name for it "
                "is dramatiq.queue. Leave both out."
            )
        self._hooks_of: dict[str, list[Callable[..., None]]] = {}
        self.job_types = JobTypes()
        self.schedules = Schedules()
        self.flows = Flows()
        self.fan_in = FanIn()
        self.process = WorkerProcess(self)
        self.inboxes: dict[str, Inbox] = {}
        super().__init__(
            pool=pool,
            url=url,
            results=False,
            middleware=[
                *(default_middleware() if middleware is None else middleware),
                self.job_types,
                self.schedules,
                self.process,
                self.fan_in,
                self.flows,
                UnitOfWork(),
            ],
        )
        if pool is not None:
            settings.DATABASE_URL = _address(pool)
        elif url:
            settings.DATABASE_URL = url if isinstance(url, str) else make_dsn(**url)

    def add_middleware(
        self, middleware: dramatiq.Middleware, *, before: type | None = None, after: type | None = None
    ) -> None:
        """As Dramatiq's; what has no stated place goes before ours, for the unit of work must stay last."""
        ours = isinstance(middleware, JobTypes | Schedules | WorkerProcess | FanIn | Flows | UnitOfWork)
        if before is None and after is None and not ours and self.job_types in self.middleware:
            before = JobTypes
        self._hooks_of.clear()
        super().add_middleware(middleware, before=before, after=after)
        self._hooks_of.clear()

    def emit_before(self, signal: str, *args: Any, **kwargs: Any) -> None:
        """As Dramatiq's, but only for the middleware that has such a hook; most have few."""
        for hook in self._hooks(f"before_{signal}"):
            try:
                hook(self, *args, **kwargs)
            except MiddlewareError:
                raise
            except Exception:
                logger.critical("Unexpected failure in %r.", hook, exc_info=True)

    def emit_after(self, signal: str, *args: Any, **kwargs: Any) -> None:
        """As Dramatiq's: last in the list, first to be told."""
        for hook in reversed(self._hooks(f"after_{signal}")):
            try:
                hook(self, *args, **kwargs)
            except Exception:
                logger.critical("Unexpected failure in %r.", hook, exc_info=True)

    def _hooks(self, name: str) -> list[Callable[..., None]]:
        if (hooks := self._hooks_of.get(name)) is None:
            default = getattr(dramatiq.Middleware, name)
            hooks = self._hooks_of[name] = [
                getattr(each, name) for each in self.middleware if getattr(type(each), name) is not default
            ]
        return hooks

    def follows(self, actor: Actor[Any, Any]) -> Callable[[Rule], Rule]:
        """`@follows(job)`: what follows that job when it was started alone. See Flows.follows."""
        return self.flows.follows(actor)

    def declare_actor(self, actor: Actor[Any, Any]) -> None:
        """As Dramatiq's. Raises ValueError for an option that no job can have."""
        self.job_types.add(actor)
        actor.fn = interruptible(actor.fn)
        super().declare_actor(actor)

    def declare_queue(self, queue_name: str) -> None:
        """No delay queue is declared: what is not due waits in the table, not in a worker's memory."""
        if queue_name not in self.queues:
            self.emit_before("declare_queue", queue_name)
            self.queues[queue_name] = True
            self.inboxes[queue_name] = Inbox()
            self.emit_after("declare_queue", queue_name)

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        """Add a job, in the transaction of the surrounding `store.transaction()` if there is one; delay in ms.

        Between a job's end and its acknowledgement, what is sent follows that job. If an equal job waits already
        (option dedupe), that one's message is returned. Raises PayloadRefused for arguments that do not fit.
        """
        if isinstance(message, MessageProxy):
            message = message._message
        self.emit_before("enqueue", message, delay)
        if (job := ending()) is not None:
            job.following.append(next_step(job, message, delay))
        elif "scheduled_at" in message.options:  # periodiq's
            message = self.schedules.send(self, message)
        else:
            new = new_job(self, message, delay)
            for _ in range(SEND_TRIES):
                if new["id"] in self._persist([new]):
                    break
                if (waiting := queue.equal_waiting(new)) is not None:
                    message = message.copy(message_id=waiting)
                    break
                # The equal one has started or ended between the two questions.
        self.emit_after("enqueue", message, delay)
        return message

    def enqueue_many(self, messages: Iterable[Message[Any]], *, delay: int | None = None) -> int:
        """Add many jobs, all or none; how many rows are new or moved. A generator is never held in memory whole."""
        rows = (new_job(self, message, delay) for message in messages)
        mine = not store.in_transaction()
        # While Postgres writes one batch, the next one is worked out; together they take half the time. Not in a
        # transaction of the caller's: her generator may have her connection in its own hands.
        with store.transaction(), ThreadPoolExecutor(1, "enqueue") as writer:
            written, added = None, 0
            while batch := list(islice(rows, ENQUEUE_BATCH)):
                added += len(written.result()) if written else 0
                written = store.alongside(writer, partial(queue.add, batch))
                if not mine:
                    wait([written])
            return added + (len(written.result()) if written else 0)

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 30_000) -> Consumer:
        self.process.consumes(queue_name)
        return Consumer(self, queue_name, timeout / 1000)

    def flush(self, queue_name: str) -> None:
        """Delete what waits in this queue; what runs stays."""
        queue.flush(queue_name)

    def flush_all(self) -> None:
        queue.flush()

    def join(self, queue_name: str, *, timeout: int | None = None) -> None:
        """Wait until nothing of this queue runs or is due; timeout in ms. For tests."""
        deadline = None if timeout is None else time.monotonic() + timeout / 1000
        while queue.unfinished(queue_name):
            if deadline is not None and time.monotonic() > deadline:
                raise dramatiq.QueueJoinTimeout(queue_name)
            time.sleep(0.02)

    def _persist(self, rows: list[queue.NewJob]) -> set[str]:
        for attempt in range(1, ENQUEUE_TRIES + 1):
            try:
                return queue.add(rows)
            except psycopg2.Error as error:
                if not connection_lost(error):
                    raise
                if store.in_transaction() or attempt == ENQUEUE_TRIES:
                    raise BrokerUnreachable(f"cannot enqueue: {error}") from error
                time.sleep(0.1 * 2**attempt)
        raise AssertionError("unreachable")


def _address(pool: Any) -> str:
    conn = pool.getconn()
    try:
        return str(make_dsn(**{**conn.info.dsn_parameters, "password": conn.info.password}))
    finally:
        pool.putconn(conn)
