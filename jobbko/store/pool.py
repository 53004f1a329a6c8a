"""Connections: one pool for each process, opened at first use, so a fork never shares its parent's.

Not psycopg2's own pool: an exception that arrives from outside while a thread takes its lock (a time limit, a cancelled
job) leaves that locked for ever, and it fails at once when it is empty.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any
from weakref import ref

import psycopg2
from psycopg2.extensions import TRANSACTION_STATUS_IDLE, make_dsn, parse_dsn
from psycopg2.extensions import connection as Connection
from psycopg2.extras import register_default_jsonb

from jobbko import settings
from jobbko.errors import UserError

#: Seconds that a caller waits for a free connection before it is told that there is none.
PATIENCE = 30


class Place:
    """The right to a connection. It is counted by being alive, so one that is lost on the way gives itself back."""

    given_back = False


class Pool:
    def __init__(self) -> None:
        self.idle: deque[Own] = deque()
        # No WeakSet: it tidies up in a callback, and an exception that arrives from outside inside one is lost.
        self.taken: list[ref[Place]] = []
        self.lock = threading.Lock()

    def place(self) -> Place:
        deadline = time.monotonic() + PATIENCE
        while True:
            with self.lock:
                self.taken = [each for each in self.taken if (taken := each()) is not None and not taken.given_back]
                if len(self.taken) < settings.POOL_SIZE:
                    place = Place()
                    self.taken.append(ref(place))
                    return place
            if time.monotonic() > deadline:
                raise psycopg2.OperationalError(
                    f"all {settings.POOL_SIZE} connections have been busy for {PATIENCE} s; raise JOBBKO_POOL_SIZE"
                )
            time.sleep(0.005)


class Own(Connection):
    #: What `jobbko.collection` is in this session: the collection that its owner may write into, "" for all; None while
    #: that is not known.
    collection: str | None = ""


_pools: dict[int, Pool] = {}


def connect() -> Own:
    """A new connection of one's own, in autocommit; the dispatcher and the lease keeper have one each."""
    conn: Own = psycopg2.connect(make_dsn(database_url(), **_KEEPALIVE), connection_factory=Own)
    conn.autocommit = True
    register_default_jsonb(conn, loads=as_json)
    return conn


def as_json(text: str) -> Any:
    """The value; its text, if Python cannot read it (a number of 5000 digits), so that a list of rows stays a list."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


@contextlib.contextmanager
def connection() -> Iterator[Own]:
    """A pooled connection in autocommit, given back afterwards; a broken one is thrown away."""
    pool = _pools.setdefault(os.getpid(), Pool())
    place = pool.place()
    conn = _live(pool)
    try:
        yield conn
    finally:
        # Whatever state it is left in, the next user gets a clean one or a new one.
        if conn.closed == 0 and conn.info.transaction_status == TRANSACTION_STATUS_IDLE:
            pool.idle.append(conn)
        else:
            conn.close()
        place.given_back = True


def database_url() -> str:
    """DATABASE_URL if it is set, else the embedded Postgres, which is started if nobody has."""
    if settings.DATABASE_URL:
        try:
            parse_dsn(settings.DATABASE_URL)
        except psycopg2.ProgrammingError:
            raise UserError(  # without repeating it: there may be a password in it
                "DATABASE_URL is no address of a Postgres; write postgresql://user:password@host:5432/database, or "
                "leave it unset for the embedded one."
            ) from None
        return settings.DATABASE_URL
    from jobbko.store import embedded

    return embedded.url()


def close() -> None:
    """Close this process's idle connections; the next use opens new ones, to wherever DATABASE_URL points then."""
    if (pool := _pools.pop(os.getpid(), None)) is not None:
        while pool.idle:
            pool.idle.pop().close()


def readable(*descriptors: int, seconds: float) -> set[int]:
    """Those that can be read within so many seconds. (poll and not select, which knows no descriptor above 1023.)"""
    waiting = select.poll()
    for descriptor in descriptors:
        waiting.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in waiting.poll(seconds * 1000)}


_KEEPALIVE = {
    "application_name": "jobbko",
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 10_000,  # milliseconds
}


def _live(pool: Pool) -> Own:
    """An idle connection, or a new one. One that the server has closed meanwhile is noticed here and not by the job.

    An idle connection has nothing to read; if it has, that is the server's farewell.
    """
    while pool.idle:
        try:
            conn = pool.idle.pop()
        except IndexError:
            break  # another thread was quicker
        if not conn.closed and not readable(conn.fileno(), seconds=0):
            conn.autocommit = True
            return conn
        conn.close()
    return _opened()


def _opened() -> Own:
    """A failure here is our own database's, whatever psycopg2 calls it."""
    try:
        return connect()
    except psycopg2.OperationalError as error:
        error._lost_our_database = True  # type: ignore[attr-defined]
        raise
