"""A thread of its own says for the jobs of this process that they are alive, and looks after the jobs of dead ones."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from contextlib import suppress

import psycopg2
from dramatiq import Worker
from psycopg2.extensions import connection as Connection

from jobbko import settings, store
from jobbko.engine.database_errors import connection_lost
from jobbko.engine.dispatcher import Dispatcher
from jobbko.engine.gates import announce_pauses
from jobbko.engine.housekeeping import Housekeeping
from jobbko.engine.interrupts import interrupt
from jobbko.engine.job import Job
from jobbko.store import pool, queue

logger = logging.getLogger(__name__)

#: Milliseconds that a lease keeper waits for one lock, and how many of them it waits for in one round.
LOCK_WAITS, LOCKED_MOST = 20, 5


def sweep() -> int:
    """Look after the jobs of dead workers; how many there were. One that Postgres refuses does not stop the others."""
    ids = queue.expired()
    try:
        return queue.sweep(ids, settings.LEASE, settings.BACKOFF) if ids else 0
    except psycopg2.Error as error:
        if connection_lost(error):
            raise
    swept = locked = 0
    for id in ids:
        try:
            swept += queue.sweep([id], settings.LEASE, settings.BACKOFF)
        except psycopg2.errors.LockNotAvailable:
            if (locked := locked + 1) >= LOCKED_MOST:
                break
        except psycopg2.Error as error:
            if connection_lost(error):
                raise
            logger.exception("Job %s of a dead worker cannot be given back.", id)
    return swept


class LeaseKeeper(threading.Thread):
    """Renews three times in each lease. Any worker may sweep; there is no leader to lose."""

    def __init__(self, dispatcher: Dispatcher, worker: Worker) -> None:
        super().__init__(name="leases", daemon=True)
        self.dispatcher = dispatcher
        self.worker = worker
        self.housekeeping = Housekeeping()
        self._stopping = threading.Event()

    def stop(self) -> None:
        self._stopping.set()
        self.join(timeout=10)

    def run(self) -> None:
        conn: Connection | None = None
        while not self._stopping.wait(settings.LEASE / 3):
            try:
                conn = conn if conn is not None and not conn.closed else self._connected()
                with store.using(conn):
                    self._renew()
                    if swept := sweep():
                        logger.warning("%d jobs of a dead worker go back to the queue or to the dead letters.", swept)
                        queue.ring()
                    queue.worker_alive(self.dispatcher.worker)
                    announce_pauses()
                    self.housekeeping.tidy()
                self._count_threads()
            except psycopg2.Error as error:
                logger.warning("Leases cannot be renewed, trying again: %s", str(error).strip())
                if conn is not None:
                    conn.close()
            except Exception:
                logger.exception("The lease keeper stumbled and goes on.")
        if conn is not None:
            with suppress(psycopg2.Error):
                conn.close()

    def _connected(self) -> Connection:
        """What somebody has locked is left for the next round: whoever waits for it renews no lease meanwhile."""
        conn = pool.connect()
        with conn.cursor() as cursor:
            cursor.execute("select set_config('lock_timeout', %s, false)", (f"{LOCK_WAITS}ms",))
        return conn

    def _renew(self) -> None:
        with self.dispatcher.holding:
            held = dict(self.dispatcher.held)
        if not held:
            return
        ours, cancelled = queue.renew({id: job.token for id, job in held.items()}, settings.LEASE)
        for id, job in held.items():
            if id not in ours:
                self._lost(job)
            elif id in cancelled:
                interrupt(job)

    def _lost(self, job: Job) -> None:
        # It may just have ended: then the row is finished and the lease with it.
        with self.dispatcher.holding:
            if self.dispatcher.held.get(job.message_id) is not job:
                return
        if job.completing or job.settled or (job.thread is None and not job.untaken):
            return  # over, and being written
        logger.warning("%s %s: the lease was lost; the job is interrupted.", job.actor_name, job.message_id)
        job.lost = True
        job.take()
        self.dispatcher.forget(job)
        interrupt(job)

    def _count_threads(self) -> None:
        """A worker thread that died takes its share of the capacity with it, and nobody would notice."""
        if self.dispatcher.draining:
            return
        dead = sum(not thread.is_alive() for thread in self.worker.workers)
        if dead:
            logger.critical(
                "%d of %d worker threads died; this process stops, to be started anew.", dead, self.dispatcher.capacity
            )
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(settings.LEASE)
