"""Row-level security and what workers and their jobs write."""

from __future__ import annotations

import uuid
from urllib.parse import urlsplit, urlunsplit

import dramatiq
import pytest

from jobbko import settings, store
from jobbko.engine import PostgresBroker, completion
from jobbko.store import migrate, pool
from jobbko.testing.worker import until, working
from tests.conftest import admin, sibling


@pytest.mark.usefixtures("tx")
def test_every_table_with_a_collection_but_the_queue_is_fenced():
    fenced = store.rows(
        "select tgrelid::regclass::text, count(*) from pg_trigger where tgname ~ '^own_coll' group by 1"
    )
    there = store.rows(
        "select c.relname, 2 from pg_class c join pg_attribute a on a.attrelid = c.oid where c.relkind = 'r'"
        " and a.attname = 'collection_node_id' and c.relnamespace = 'public'::regnamespace"
        " and relname not in ('job_queue', 'nodes')"
    )
    assert sorted(fenced) == sorted([*there, ("nodes", 1), ("node_access", 1)])


@pytest.mark.parametrize(
    "statement",
    [
        "insert into artists (collection_node_id, name, artist_key) values (%(theirs)s, 'x', 'x')",
        "update artists set collection_node_id = %(theirs)s where name = 'mine'",
        "update artists set name = 'x' where collection_node_id = %(theirs)s",
        "update artists set collection_node_id = %(mine)s",
        "delete from artists",
    ],
)
@pytest.mark.usefixtures("database")
def test_a_job_writes_into_its_own_collection_only(statement):
    mine, theirs = str(uuid.uuid4()), str(uuid.uuid4())
    for id, name in ((mine, "mine"), (theirs, "theirs")):
        store.run("insert into nodes (id, kind) values (%(id)s, 'collection')", id=id)
        store.run(
            "insert into artists (collection_node_id, name, artist_key) values (%(id)s, %(name)s, 'k')",
            id=id,
            name=name,
        )
    before = store.rows("select collection_node_id::text, name from artists order by name")
    broker = PostgresBroker()

    @dramatiq.actor(broker=broker)
    def work(wrong):
        with completion():
            store.run("update artists set sort_name = 'seen' where collection_node_id = %(mine)s", mine=mine)
            if wrong:
                store.run(statement, mine=mine, theirs=theirs)

    work.send_with_options(args=(True,), collection=mine)
    with working(broker):
        until(lambda: store.value("select status::text from job_queue") == "error")
        assert "may not write into artists" in store.value("select error_msg from job_queue")
        assert store.rows("select collection_node_id::text, name from artists order by name") == before
        assert store.value("select count(*) from artists where sort_name = 'seen'") == 0

        work.send_with_options(args=(False,), collection=mine)
        until(lambda: store.value("select count(*) from job_queue where status = 'completed'") == 1)
    assert store.value("select count(*) from artists where sort_name = 'seen'") == 1


@pytest.fixture
def modest(server, monkeypatch):
    """A database whose owner is no superuser and may make no roles, as a managed Postgres gives it."""
    name = f"modest_{uuid.uuid4().hex[:8]}"
    admin(server, f"create role {name} login nosuperuser nocreaterole")
    admin(server, "create database {} owner {}", name, name)
    parts = urlsplit(sibling(server, name))
    host = parts.netloc.rpartition("@")[2]
    monkeypatch.setattr(settings, "DATABASE_URL", urlunsplit(parts._replace(netloc=f"{name}@{host}")))
    pool.close()
    yield
    pool.close()
    admin(server, "drop database {} with (force)", name)
    admin(server, f"drop role {name}")


def test_workers_of_a_modest_owner_see_and_run_all(modest):
    assert store.value("select rolsuper from pg_roles where rolname = current_user") is False
    migrate.migrate()
    broker = PostgresBroker()
    ran = []

    @dramatiq.actor(broker=broker)
    def work(n):
        ran.append(n)

    collection = str(uuid.uuid4())
    store.run("insert into nodes (id, kind) values (%(id)s, 'collection')", id=collection)
    work.send_with_options(args=(1,), collection=collection)
    work.send(2)
    with working(broker):
        until(lambda: sorted(ran) == [1, 2])
