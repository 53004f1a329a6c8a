"""Fixtures that every test may use: a real Postgres, a fake internet.

tx        the shared test database inside a transaction that is rolled back   (nearly everything)
database  a database of its own, cloned from a migrated template              (engine, pipelines end to end)
http      the internet: only what the test said; anything else fails the test
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg2
import pytest
from psycopg2.extensions import quote_ident

from jobbko import clients, settings, store
from jobbko.store import pool
from jobbko.store.migrate import migrate
from tests import sounds
from tests.fakes import Internet

#: A test that forgot to ask for `tx` or `database` must not write into the database of whoever runs it.
settings.DATABASE_URL = "postgresql:///no_database?host=/ask/for/tx/or/database"

#: Nor does a worker that a test starts ask services what they know of made-up music.
os.environ.update(JOBBKO_MUSICBRAINZ_URL="off", JOBBKO_LRCLIB_URL="off")
#: Files that tests write are whole.
settings.SETTLE = 0
os.environ["JOBBKO_SETTLE"] = "0"

RUN = f"test_{os.getpid()}_{uuid.uuid4().hex[:6]}"


def sibling(server: str, name: str) -> str:
    """The same server's database of that name."""
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))


def admin(server: str, statement: str, *names: str) -> None:
    conn = psycopg2.connect(server)
    conn.autocommit = True
    with conn.cursor() as cursor:
        cursor.execute(statement.format(*(quote_ident(name, conn) for name in names)))
    conn.close()


@contextlib.contextmanager
def server_for_this_run() -> Iterator[str]:
    """A Postgres server for this run alone, or the one that JOBBKO_TEST_SERVER names (to test another version)."""
    if given := os.environ.get("JOBBKO_TEST_SERVER"):
        yield given
    else:
        from jobbko.testing.postgres import temporary_server

        with temporary_server() as url:
            yield url


@contextlib.contextmanager
def migrated(server: str) -> Iterator[str]:
    """The name of a database that others are cloned from."""
    admin(server, "create database {}", RUN)
    settings.DATABASE_URL = sibling(server, RUN)
    migrate()
    pool.close()
    yield RUN
    admin(server, "drop database {} with (force)", RUN)


#: Of the run that starts several test processes: one server and one template serve them all.
shared_by_processes = pytest.StashKey[tuple[contextlib.ExitStack, dict[str, str]]]()


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        sounds.shared = Path(config.workerinput["sounds"])
    elif getattr(config.option, "numprocesses", None):
        open_until_the_end = contextlib.ExitStack()
        server = open_until_the_end.enter_context(server_for_this_run())
        template = open_until_the_end.enter_context(migrated(server))
        folder = open_until_the_end.enter_context(tempfile.TemporaryDirectory(prefix="jobbko-sounds-"))
        shared = {"server": server, "template": template, "sounds": folder}
        config.stash[shared_by_processes] = (open_until_the_end, shared)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput.update(node.config.stash[shared_by_processes][1])


def pytest_unconfigure(config: pytest.Config) -> None:
    if shared_by_processes in config.stash:
        config.stash[shared_by_processes][0].close()


@pytest.fixture(scope="session")
def server(pytestconfig: pytest.Config) -> Iterator[str]:
    if hasattr(pytestconfig, "workerinput"):
        yield pytestconfig.workerinput["server"]
    else:
        with server_for_this_run() as url:
            yield url


@pytest.fixture(scope="session")
def template(pytestconfig: pytest.Config, server: str) -> Iterator[str]:
    if hasattr(pytestconfig, "workerinput"):
        yield pytestconfig.workerinput["template"]
    else:
        with migrated(server) as name:
            yield name


@pytest.fixture(scope="session")
def shared(server: str, template: str) -> Iterator[str]:
    name = f"{RUN}_shared"
    admin(server, "create database {} template {}", name, template)
    yield sibling(server, name)
    admin(server, "drop database {} with (force)", name)


@pytest.fixture
def tx(shared: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(settings, "DATABASE_URL", shared)
    conn = psycopg2.connect(shared)  # not autocommit: all of it is one transaction, never committed
    with store.using(conn):
        yield
    conn.rollback()
    conn.close()


@pytest.fixture(scope="session")
def objects(shared: str) -> int:
    """How many things are in a database that no test has touched."""
    conn = psycopg2.connect(shared)
    with conn.cursor() as cursor:
        cursor.execute(OBJECTS)
        (count,) = cursor.fetchone()
    conn.close()
    return int(count)


@pytest.fixture(scope="session")
def clones(server: str, template: str) -> Iterator[list[str]]:
    """Clones that a test has left as it found them, for the next one: emptying one is quicker than making one."""
    spare: list[str] = []
    yield spare
    for name in spare:
        admin(server, "drop database {} with (force)", name)


@pytest.fixture
def database(
    server: str, template: str, clones: list[str], objects: int, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    if clones:
        name = clones.pop()
    else:
        name = f"{RUN}_{uuid.uuid4().hex[:8]}"
        admin(server, "create database {} template {}", name, template)
    url = sibling(server, name)
    monkeypatch.setattr(settings, "DATABASE_URL", url)
    pool.close()
    yield url
    pool.close()
    if emptied(url, objects):
        clones.append(name)
    else:
        admin(server, "drop database {} with (force)", name)


#: As the template was. `delete` is far quicker than `truncate` for a handful of rows, without triggers all the more.
EMPTY = """
do $$
declare
    filled regclass;
begin
    perform set_config('session_replication_role', 'replica', true);
    for filled in
        select oid from pg_class
        where relnamespace = 'public'::regnamespace and relkind = 'r'
          and relname not in ('jobbko_migration', 'service_rate', 'graph_setting')
          and pg_relation_size(oid) > 0
    loop
        if pg_relation_size(filled) > 100 * 8192 then
            execute format('truncate %s cascade', filled);
        else
            execute format('delete from %s', filled);
        end if;
    end loop;
    insert into nodes (id, kind, title)
    values ('00000000-0000-0000-0000-000000000001', 'collection', 'Default collection');
end
$$;
"""
OBJECTS = """
select (select count(*) from pg_class where relnamespace = 'public'::regnamespace)
     + (select count(*) from pg_proc where pronamespace = 'public'::regnamespace)
     + (select count(*) from pg_trigger where not tgisinternal)
"""


def emptied(url: str, objects: int) -> bool:
    """Whether the database is as the template again."""
    conn = psycopg2.connect(url, options="-c lock_timeout=2s")
    conn.autocommit = True
    try:
        with conn.cursor() as cursor:
            cursor.execute(EMPTY)
            cursor.execute(OBJECTS)
            return bool(cursor.fetchone() == (objects,))
    except psycopg2.Error:
        return False  # somebody still works in it
    finally:
        conn.close()


@pytest.fixture
def http(monkeypatch: pytest.MonkeyPatch) -> Internet:
    internet = Internet()
    monkeypatch.setattr(clients, "transport", internet)
    return internet


@pytest.fixture(autouse=True)
def offline(http: Internet) -> None:
    """No test reaches the network, even if it forgot to ask for `http`."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Half a character in a captured log line cannot be sent from one test process to the other."""
    report = yield
    report.sections = [(title, text.encode(errors="backslashreplace").decode()) for title, text in report.sections]
    return report
