"""What a worker process has beside its threads: the dispatcher, the lease keeper, and an orderly start and stop."""

from __future__ import annotations

import ctypes
import multiprocessing
import signal
from typing import TYPE_CHECKING
from uuid import uuid4

import dramatiq
import psycopg2
from dramatiq import Broker, Worker

from jobbko import settings
from jobbko.engine import job as threads
from jobbko.engine import readiness
from jobbko.engine.dispatcher import Dispatcher
from jobbko.engine.job import Job
from jobbko.engine.leases import LeaseKeeper

if TYPE_CHECKING:
    from jobbko.engine.broker import PostgresBroker


class WorkerProcess(dramatiq.Middleware):
    def __init__(self, broker: PostgresBroker) -> None:
        self.broker = broker
        self.dispatcher: Dispatcher | None = None
        self.leases: LeaseKeeper | None = None
        self._consumed: set[str] = set()

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        self._consumed.clear()
        if multiprocessing.parent_process() is not None:
            die_with_parent()
        # Dramatiq would swallow an error here, and go on as a worker that never gets a job.
        readiness.patiently(self._publish)

    def after_worker_boot(self, broker: Broker, worker: Worker) -> None:
        # A new identity for each start: a container that comes back under its old name inherits nothing.
        self.dispatcher = Dispatcher(self.broker, str(uuid4()), worker.worker_threads, self.types)
        self.leases = LeaseKeeper(self.dispatcher, worker)
        threads.worker_starts(worker)
        self.dispatcher.start()
        self.leases.start()

    def before_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        if self.dispatcher is not None:
            self.dispatcher.drain()

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        if self.dispatcher is not None and self.leases is not None:
            self.dispatcher.stop()
            self.leases.stop()
            self.dispatcher = self.leases = None
        threads.worker_stops(worker)

    def _publish(self) -> None:
        readiness.prepare()
        try:
            self.broker.job_types.publish()
        except psycopg2.OperationalError:
            raise
        except psycopg2.Error as error:
            readiness.refuse(f"The jobs cannot be published: {str(error).strip()}")

    def consumes(self, queue_name: str) -> None:
        """From now on messages of this queue find a thread (`dramatiq --queues` leaves some out)."""
        self._consumed.add(queue_name)

    def types(self) -> list[str]:
        """The job types that this process runs: those it knows, on queues it consumes, narrowed by JOBBKO_TYPES."""
        wanted = settings.TYPES
        return [
            name
            for name, actor in self.broker.actors.items()
            if actor.queue_name in self._consumed and (not wanted or name in wanted)
        ]

    def ends(self, job: Job) -> None:
        if self.dispatcher is not None:
            self.dispatcher.ends(job)

    def forget(self, job: Job) -> None:
        if self.dispatcher is not None:
            self.dispatcher.forget(job)


def die_with_parent() -> None:
    """Ask the kernel for a TERM when `dramatiq`'s main process dies, be it by kill -9 (prctl(2), PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)
