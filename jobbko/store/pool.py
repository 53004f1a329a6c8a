"""Connections: one pool for each process, opened at first use, so a fork never shares its parent's."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import psycopg2
from psycopg2.extensions import TRANSACTION_STATUS_IDLE, make_dsn
from psycopg2.extensions import connection as Connection
from psycopg2.pool import ThreadedConnectionPool

from jobbko import settings

#: Seconds that a caller waits for a free connection before it is told that there is none.
PATIENCE = 30


@dataclass(frozen=True)
class Pool:
    connections: ThreadedConnectionPool
    #: psycopg2's pool fails at once when it is empty; waiting for one of these places makes it a queue.
    places: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(settings.POOL_SIZE))


_pools: dict[int, Pool] = {}
_opening = threading.Lock()


def connect() -> Connection:
    """A new connection of one's own, in autocommit; the dispatcher and the lease keeper have one each."""
    conn = psycopg2.connect(make_dsn(database_url(), **_KEEPALIVE))
    conn.autocommit = True
    return conn


@contextlib.contextmanager
def connection() -> Iterator[Connection]:
    """A pooled connection in autocommit, given back afterwards; a broken one is thrown away."""
    pool = _own()
    if not pool.places.acquire(timeout=PATIENCE):
        raise psycopg2.OperationalError(
            f"all {settings.POOL_SIZE} connections have been busy for {PATIENCE} s; raise JOBBKO_POOL_SIZE"
        )
    try:
        conn = _checked_out(pool.connections)
        try:
            yield conn
        finally:
            # Whatever state it is left in, the next user gets a clean one or a new one.
            broken = conn.closed != 0 or conn.info.transaction_status != TRANSACTION_STATUS_IDLE
            pool.connections.putconn(conn, close=broken)
    finally:
        pool.places.release()


def database_url() -> str:
    """DATABASE_URL if it is set, else the embedded Postgres, which is started if nobody has."""
    if settings.DATABASE_URL:
        return settings.DATABASE_URL
    from jobbko.store import embedded

    return embedded.url()


def close() -> None:
    """Close this process's pool; the next use opens a new one."""
    if (pool := _pools.pop(os.getpid(), None)) is not None:
        pool.connections.closeall()


_KEEPALIVE = {
    "application_name": "jobbko",
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 10_000,  # milliseconds
}


def _opened(pool: ThreadedConnectionPool) -> Connection:
    try:
        conn: Connection = pool.getconn()
    except psycopg2.OperationalError:
        if settings.DATABASE_URL:
            raise
        database_url()  # the embedded server and its keeper were killed: start them again, at the same address
        conn = pool.getconn()
    return conn


def readable(*descriptors: int, seconds: float) -> set[int]:
    """Those that can be read within so many seconds. (poll and not select, which knows no descriptor above 1023.)"""
    waiting = select.poll()
    for descriptor in descriptors:
        waiting.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in waiting.poll(seconds * 1000)}


def _own() -> Pool:
    with _opening:
        if (pool := _pools.get(os.getpid())) is None:
            connections = ThreadedConnectionPool(0, settings.POOL_SIZE, make_dsn(database_url(), **_KEEPALIVE))
            connections.minconn = settings.POOL_SIZE  # keep what was opened; psycopg2 closes all above the minimum
            pool = _pools[os.getpid()] = Pool(connections)
        return pool


def _checked_out(pool: ThreadedConnectionPool) -> Connection:
    """A live connection: one that the server has closed meanwhile is noticed here and not by the job.

    An idle connection has nothing to read; if it has, that is the server's farewell.
    """
    while True:
        conn = _opened(pool)
        if not conn.closed and not readable(conn.fileno(), seconds=0):
            conn.autocommit = True
            return conn
        pool.putconn(conn, close=True)
