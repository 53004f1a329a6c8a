"""Postgres, and the only place that speaks it: connections, transactions, SQL kept in .sql files.

    with store.transaction():                      # what happens inside commits together, jobs sent included
        track = store.one(Track, sql["track"], track_id=track_id)

Rows come back as the dataclass that is asked for, its fields named like the columns. A text or JSON value that
Postgres cannot hold (NUL, lone surrogates, NaN) is cleaned on its way in, so recording a failure never fails.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from importlib import resources
from typing import Any, TypeVar

from psycopg2.extensions import connection as Connection
from psycopg2.extensions import cursor as Cursor

from jobbko.errors import Missing
from jobbko.store import pool
from jobbko.store.cleaning import clean

Row = TypeVar("Row")
_current: ContextVar[Connection | None] = ContextVar("connection", default=None)


@contextlib.contextmanager
def transaction() -> Iterator[None]:
    """All or nothing. Nested: a savepoint, so an inner failure that is caught undoes only the inner part."""
    if (conn := _current.get()) is not None:
        with _savepoint(conn):
            yield
        return
    with pool.connection() as conn:
        token = _current.set(conn)
        try:
            with _begun(conn):
                yield
        finally:
            _current.reset(token)


@contextlib.contextmanager
def using(conn: Connection | None) -> Iterator[None]:
    """Run on the caller's own connection and inside the caller's own transaction: she commits, not we.

    None: whatever connection is in use, what happens inside is not part of its transaction.
    """
    token = _current.set(conn)
    try:
        yield
    finally:
        _current.reset(token)


def in_transaction() -> bool:
    """Whether the caller is inside `transaction()` or `using()`."""
    return _current.get() is not None


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
    with _connection() as conn, conn.cursor() as cursor:
        cursor.execute(query, {name: clean(param) for name, param in params.items()})
        yield cursor


@contextlib.contextmanager
def _connection() -> Iterator[Connection]:
    if (conn := _current.get()) is not None:
        yield conn
    else:
        with pool.connection() as conn:
            yield conn


@contextlib.contextmanager
def _begun(conn: Connection) -> Iterator[None]:
    with conn.cursor() as cursor:
        cursor.execute("begin")
        try:
            yield
        except BaseException:
            if not conn.closed:
                cursor.execute("rollback")
            raise
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
