"""Which errors of Postgres pass by themselves."""

from __future__ import annotations

import psycopg2

#: Serialization, deadlock, lock and statement time limits, a cancelled query, a server that is read-only just now
#: (PostgreSQL documentation, appendix A).
_PASSING = ("40001", "40P01", "55P03", "57014", "25006")


def connection_lost(error: psycopg2.Error) -> bool:
    """The server is gone or going (SQLSTATE class 08, 57P01 to 57P03), or never answered with a code at all."""
    if not isinstance(error, psycopg2.OperationalError | psycopg2.InterfaceError):
        return False
    return error.pgcode is None or error.pgcode.startswith("08") or error.pgcode in ("57P01", "57P02", "57P03")


def passing(error: psycopg2.Error) -> bool:
    """The same statement may work in a moment; nothing is wrong with what it says."""
    code = error.pgcode or ""
    return connection_lost(error) or code in _PASSING or code.startswith("53")
