"""How a worker starts when the database is not what it should be."""

from __future__ import annotations

import uuid

import dramatiq
import psycopg2
import pytest

from jobbko import settings, store
from jobbko.engine import PostgresBroker, readiness
from jobbko.store import pool
from jobbko.testing.worker import working
from tests.conftest import admin, sibling


def test_a_worker_refuses_a_database_that_is_not_migrated(server, monkeypatch, caplog):
    name = f"empty_{uuid.uuid4().hex[:8]}"
    admin(server, "create database {}", name)
    monkeypatch.setattr(settings, "DATABASE_URL", sibling(server, name))
    pool.close()
    try:
        with pytest.raises(SystemExit), working(PostgresBroker()):
            pass
        assert "Run `jobbko migrate`" in caplog.text
    finally:
        pool.close()
        admin(server, "drop database {} with (force)", name)


def test_a_worker_waits_for_its_database_and_gives_up_in_the_end(monkeypatch, caplog):
    monkeypatch.setattr(settings, "DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    monkeypatch.setattr(readiness, "PATIENCE", 0)
    pool.close()
    with pytest.raises(SystemExit), working(PostgresBroker()):
        pass
    assert "cannot be reached" in caplog.text
    pool.close()


def test_the_constructor_takes_what_dramatiq_pgs_takes(database, monkeypatch):
    from psycopg2.pool import ThreadedConnectionPool

    theirs = ThreadedConnectionPool(0, 2, database)
    monkeypatch.setattr(settings, "DATABASE_URL", "")
    PostgresBroker(pool=theirs, results=True, schema="dramatiq", prefix="")
    assert store.value("select current_database()") == psycopg2.extensions.parse_dsn(database)["dbname"]
    theirs.closeall()

    PostgresBroker(url=database)
    assert database == settings.DATABASE_URL
    with pytest.raises(ValueError, match=r"dramatiq\.queue"):
        PostgresBroker(url=database, schema="other")


def test_unit_of_work_stays_last_whatever_is_added(database):
    broker = PostgresBroker()
    broker.add_middleware(dramatiq.middleware.CurrentMessage())
    assert type(broker.middleware[-1]).__name__ == "UnitOfWork"


def test_a_worker_refuses_an_address_that_is_none(monkeypatch, caplog):
    monkeypatch.setattr(settings, "DATABASE_URL", "garbage")
    pool.close()
    with pytest.raises(SystemExit), working(PostgresBroker()):
        pass
    assert "DATABASE_URL is no address" in caplog.text
    pool.close()
