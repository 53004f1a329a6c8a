"""Postgres, and the only place that speaks it: connections, transactions, SQL kept in .sql files.

    with store.transaction():                      # what happens inside commits together, jobs sent included
        track = store.one(Track, sql["track"], track_id=track_id)

Rows come back as the dataclass that is asked for, its fields named like the columns. A text or JSON value that
Postgres cannot hold (NUL, lone surrogates, NaN) is cleaned on its way in, so recording a failure never fails.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, wait
from contextvars import ContextVar, copy_context
from importlib import resources
from typing import Any, TypeVar

import psycopg2
from psycopg2.extensions import TRANSACTION_STATUS_INERROR
from psycopg2.extensions import connection as Connection
from psycopg2.extensions import cursor as Cursor

from jobbko.errors import Missing
from jobbko.store import pool
from jobbko.store.cleaning import clean

Row = TypeVar("Row")


class Ambient:
    """The connection of the transaction around the caller, for as long as that is open.

    A task or a generator that was started inside may outlive it, with the context it was born with; what it does then
    must not end up in the transaction of whoever has the connection next.
    """

    def __init__(self, conn: Connection) -> None:
        self.conn: Connection | None = conn
        #: What another thread does in this transaction; the caller's next statement waits for it.
        self.alongside: Future[Any] | None = None


_current: ContextVar[Ambient | None] = ContextVar("connection", default=None)
_fence: ContextVar[str] = ContextVar("fence", default="")


@contextlib.contextmanager
def transaction() -> Iterator[None]:
    """All or nothing. Nested: a savepoint, so an inner failure that is caught undoes only the inner part."""
    if (conn := _ambient()) is not None:
        with _savepoint(conn):
            yield
        return
    with _fenced() as conn, using(conn), _begun(conn):
        yield


def fence(collection: str | None) -> None:
    """From here on this thread writes only into that collection (None: into each); see migrations/0013.

    Postgres refuses other rows with InsufficientPrivilege. It does not hold for connections that the caller opened.
    """
    _fence.set(collection or "")


@contextlib.contextmanager
def using(conn: Connection | None) -> Iterator[None]:
    """Run on the caller's own connection and inside the caller's own transaction: she commits, not we.

    None: whatever connection is in use, what happens inside is not part of its transaction.
    """
    ambient = None if conn is None else Ambient(conn)
    before = _current.get()
    _current.set(ambient)
    try:
        yield
    finally:
        if ambient is not None:
            ambient.conn = None
        _current.set(before)


def in_transaction() -> bool:
    """Whether the caller is inside `transaction()` or `using()`."""
    return _ambient() is not None


def abandoned() -> bool:
    """Whether a transaction was left open by whoever had this thread; it is rolled back, its connection thrown away."""
    conn = _ambient()
    _current.set(None)
    if conn is None:
        return False
    conn.close()
    return True


def lost_connection(error: BaseException) -> bool:
    """Whether it was raised here because our own database went away, and not by a mistake or by another database."""
    return bool(getattr(error, "_lost_our_database", False))


def one(row: type[Row], query: str, **params: Any) -> Row:
    """The row; Missing if there is none."""
    found = find(row, query, **params)
    if found is None:
        raise Missing(f"no {row.__name__} for {params}")
    return found


def find(row: type[Row], query: str, **params: Any) -> Row | None:
    """The row or None."""
    with _execute(query, params) as cursor:
        values = cursor.fetchone()
        return None if values is None else row(**dict(zip(_columns(cursor), values, strict=True)))


def many(row: type[Row], query: str, **params: Any) -> list[Row]:
    """All rows, in the statement's order."""
    with _execute(query, params) as cursor:
        names = _columns(cursor)
        return [row(**dict(zip(names, values, strict=True))) for values in cursor]


def rows(query: str, **params: Any) -> list[tuple[Any, ...]]:
    """All rows as plain tuples, for the one caller that counts microseconds."""
    with _execute(query, params) as cursor:
        return cursor.fetchall()


def value(query: str, **params: Any) -> Any:
    """The first column of the first row; None if there is no row."""
    with _execute(query, params) as cursor:
        found = cursor.fetchone()
        return None if found is None else found[0]


def run(query: str, **params: Any) -> int:
    """The number of rows changed."""
    with _execute(query, params) as cursor:
        return cursor.rowcount


def queries(filename: str) -> dict[str, str]:
    """The named statements of a .sql file beside this one: `-- name: album`."""
    text = (resources.files(__name__) / filename).read_text(encoding="utf-8")
    _, *parts = re.split(r"^-- name: (\w+)$", text, flags=re.MULTILINE)
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


def _columns(cursor: Cursor) -> list[str]:
    return [column.name for column in cursor.description or ()]


@contextlib.contextmanager
def _execute(query: str, params: dict[str, Any]) -> Iterator[Cursor]:
    with _connection() as conn, _marked(conn), conn.cursor() as cursor:
        cursor.execute(query, {name: clean(param) for name, param in params.items()})
        yield cursor


def _ambient() -> Connection | None:
    ambient = _current.get()
    if ambient is None:
        return None
    if ambient.alongside is not None:
        wait([ambient.alongside])
    return ambient.conn


def alongside(threads: Executor, work: Callable[[], Row]) -> Future[Row]:
    """Do it in another thread, in the caller's transaction; whatever she does there herself waits until it is done.

    So a savepoint of hers cannot begin before it and be undone after it.
    """
    ambient, conn = _current.get(), _ambient()
    if ambient is None or conn is None:
        raise RuntimeError("alongside() needs a transaction")

    def there() -> Row:
        _current.set(Ambient(conn))
        return work()

    future = threads.submit(copy_context().run, there)
    ambient.alongside = future
    return future


@contextlib.contextmanager
def _marked(conn: Connection) -> Iterator[None]:
    """Errors of a connection that broke under us are told from the others (see lost_connection)."""
    try:
        yield
    except psycopg2.Error as error:
        if conn.closed:
            error._lost_our_database = True  # type: ignore[attr-defined]
        raise


@contextlib.contextmanager
def _connection() -> Iterator[Connection]:
    if (conn := _ambient()) is not None:
        yield conn
    else:
        with _fenced() as conn:
            yield conn


@contextlib.contextmanager
def _fenced() -> Iterator[Connection]:
    with pool.connection() as conn:
        if conn.collection != (wanted := _fence.get()):
            conn.collection = None  # until it is known: an interrupt may come between the two
            with _marked(conn), conn.cursor() as cursor:
                cursor.execute("select set_config('jobbko.collection', %s, false)", (wanted,))
            conn.collection = wanted
        yield conn


@contextlib.contextmanager
def _begun(conn: Connection) -> Iterator[None]:
    with _marked(conn), conn.cursor() as cursor:
        cursor.execute("begin")
        try:
            yield
        except BaseException:
            if not conn.closed:
                cursor.execute("rollback")
            raise
        # A statement failed inside and somebody swallowed it: Postgres would answer this commit with a silent rollback.
        if conn.info.transaction_status == TRANSACTION_STATUS_INERROR:
            cursor.execute("rollback")
            raise psycopg2.errors.InFailedSqlTransaction(
                "a statement failed inside this transaction and the error was caught; nothing was written. "
                "Put what may fail into a `store.transaction()` of its own."
            )
        cursor.execute("commit")


@contextlib.contextmanager
def _savepoint(conn: Connection) -> Iterator[None]:
    with conn.cursor() as cursor:
        cursor.execute("savepoint nested")
        try:
            yield
        except BaseException:
            if not conn.closed:
                cursor.execute("rollback to savepoint nested")
            raise
        cursor.execute("release savepoint nested")
