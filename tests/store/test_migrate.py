"""Migrations: once each, whoever starts first."""

from __future__ import annotations

import re
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jobbko import settings, store
from jobbko.errors import UserError
from jobbko.store import migrate, pool
from tests.conftest import admin, sibling


@pytest.fixture
def empty(server, monkeypatch):
    name = f"empty_{uuid.uuid4().hex[:8]}"
    admin(server, "create database {}", name)
    monkeypatch.setattr(settings, "DATABASE_URL", sibling(server, name))
    pool.close()
    yield sibling(server, name)
    pool.close()
    admin(server, "drop database {} with (force)", name)


def test_every_file_is_applied_once_and_in_order(empty):
    before = migrate.pending()
    assert before == sorted(before)

    assert migrate.migrate() == before
    assert migrate.migrate() == []
    assert migrate.pending() == []


def test_many_processes_may_migrate_at_once(empty):
    code = "from jobbko.store.migrate import migrate; print(len(migrate()))"

    def one(_: int) -> int:
        return int(
            subprocess.run(
                [sys.executable, "-c", code], env={"DATABASE_URL": empty}, check=True, capture_output=True, text=True
            ).stdout
        )

    with ThreadPoolExecutor(4) as threads:
        applied = list(threads.map(one, range(4)))
    assert sorted(applied)[:3] == [0, 0, 0]
    assert sorted(applied)[3] > 0


def test_a_migration_that_fails_leaves_nothing_behind(empty, monkeypatch):
    monkeypatch.setattr(migrate, "_files", lambda: {"0001.sql": "create table a (n integer)", "0002.sql": "nonsense"})
    with pytest.raises(Exception, match="syntax error"):
        migrate.migrate()
    assert store.value("select to_regclass('a')") is None


def test_a_database_of_an_unreleased_version_is_told_from_an_up_to_date_one(empty, monkeypatch):
    monkeypatch.setattr(migrate, "_files", lambda: {"0001.sql": "create table a (n integer)"})
    migrate.migrate()
    monkeypatch.setattr(migrate, "_files", lambda: {"0001.sql": "create table a (m integer)"})
    for ask in (migrate.migrate, migrate.pending):
        with pytest.raises(UserError, match=r"unreleased version \(0001.sql was another\).* another DATABASE_URL"):
            ask()
    store.run("alter table jobbko_migration drop column sha256")  # as such a version had it
    for ask in (migrate.migrate, migrate.pending):
        with pytest.raises(UserError, match="unreleased version"):
            ask()


@pytest.mark.usefixtures("tx")
def test_the_default_collection_is_there():
    assert store.rows("select id::text, kind from nodes") == [("00000000-0000-0000-0000-000000000001", "collection")]


@pytest.mark.usefixtures("tx")
def test_no_finished_job_hangs_on_a_worker():
    # procrastinate-org/procrastinate#1454: millions of finished rows made each start take minutes.
    assert store.value("select count(*) from pg_constraint where contype = 'f' and confrelid = 'worker'::regclass") == 0


def test_where_no_role_may_be_granted_anything_the_tables_are_isolated_all_the_same():
    """A block that catches an error takes back all that it did: what isolates must stand in a block of its own."""
    blocks = [
        block
        for file in sorted((Path(store.__file__).parent / "migrations").glob("*.sql"))
        for block in re.findall(r"^do \$\$.*?end \$\$;", file.read_text(), re.DOTALL | re.MULTILINE)
    ]
    assert len(blocks) > 5
    assert [block for block in blocks if "isolate_table" in block and "exception" in block] == []
