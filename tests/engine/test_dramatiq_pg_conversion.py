"""A database that dramatiq-pg made is converted, with whatever is in it."""

from __future__ import annotations

import logging
import uuid

import dramatiq
import dramatiq_pg
import psycopg2
import pytest
from dramatiq import Message
from dramatiq.common import current_millis

from jobbko import settings, store
from jobbko.engine import PostgresBroker
from jobbko.store import migrate, pool, queue
from jobbko.testing.worker import until, working
from tests.conftest import admin, sibling
from tests.engine.conftest import rows, statuses


@pytest.mark.slow
def test_a_database_that_dramatiq_pg_made_is_converted_and_every_message_runs_once(server, monkeypatch):
    name = f"theirs_{uuid.uuid4().hex[:8]}"
    admin(server, "create database {}", name)
    url = sibling(server, name)
    monkeypatch.setattr(settings, "DATABASE_URL", url)
    pool.close()
    before = dramatiq.broker.global_broker
    try:
        _fill_with_dramatiq_pg(url, waiting=1000, delayed=100)
        migrate.migrate()
        assert len(rows()) == 1103
        assert store.value("select to_regclass('dramatiq.queue_before_jobbko')") is None

        ours = PostgresBroker()
        dramatiq.set_broker(ours)
        seen = []

        @dramatiq.actor(broker=ours)
        def work(n):
            seen.append(n)

        with working(ours, threads=4):
            until(lambda: queue.unfinished() == 0 and len(seen) >= 1101, timeout=30)
        assert sorted(seen) == list(range(1101))
        assert sorted(set(statuses())) == ["completed", "error"]
    finally:
        dramatiq.set_broker(before)
        pool.close()
        admin(server, "drop database {} with (force)", name)


JUNK = [
    ("null", "'queued'", "error"),
    ("'[]'", "'queued'", "error"),
    ('\'{"actor_name": "work", "args": [1], "kwargs": {}, "options": "text"}\'', "'queued'", "error"),
    ('\'{"actor_name": "work", "args": [1], "kwargs": {}, "options": {}}\'', "null", "pending"),
    (
        '\'{"actor_name": "work", "args": [1], "kwargs": {}, "options": {"eta": 1764500000000000000}}\'',
        "'queued'",
        "pending",
    ),
    (
        '\'{"actor_name": "work", "args": [1], "kwargs": {}, "options": {}, "message_timestamp": 1764500000000000}\'',
        "'queued'",
        "pending",
    ),
    (
        "jsonb_build_object('actor_name', 'work', 'args', '[]'::jsonb, 'options', '{}'::jsonb, 'kwargs',"
        " jsonb_build_object('text', repeat('x', 100000)))",
        "'queued'",
        "error",
    ),
    ("null", "'done'", "completed"),
]


def test_junk_in_their_table_keeps_nobody_from_converting_it(server, monkeypatch):
    name = f"junk_{uuid.uuid4().hex[:8]}"
    admin(server, "create database {}", name)
    url = sibling(server, name)
    monkeypatch.setattr(settings, "DATABASE_URL", url)
    pool.close()
    try:
        conn = psycopg2.connect(url)
        with conn, conn.cursor() as cursor:
            cursor.execute(dramatiq_pg.generate_init_sql())
            for message, state, _ in JUNK:
                cursor.execute(
                    "insert into dramatiq.queue (message_id, queue_name, state, message)"
                    f" values (gen_random_uuid(), 'default', {state}, {message})"
                )
        conn.close()
        migrate.migrate()
        assert statuses() == [status for _, _, status in JUNK]
        assert "more than 65536 bytes" in rows()[6].error_msg
        assert store.value("select length(message #>> '{kwargs,text}') from job_queue order by seq offset 6") == 100_000
    finally:
        pool.close()
        admin(server, "drop database {} with (force)", name)


def _fill_with_dramatiq_pg(url, waiting, delayed):
    """Waiting, delayed, one that ran when the lights went out, one done and one dead."""
    logging.getLogger("dramatiq_pg").setLevel(logging.ERROR)
    conn = psycopg2.connect(url)
    with conn, conn.cursor() as cursor:
        cursor.execute(dramatiq_pg.generate_init_sql())
    theirs = dramatiq_pg.PostgresBroker(url=url, results=False)
    theirs.declare_queue("default")
    for n in range(waiting):
        theirs.enqueue(Message("default", "work", (n,), {}, {}))
    for n in range(waiting, waiting + delayed):
        theirs.enqueue(Message("default", "work", (n,), {}, {}), delay=1500)
    with conn, conn.cursor() as cursor:
        for state, n in (("consumed", waiting + delayed), ("done", -1), ("rejected", -2)):
            message = Message("default", "work", (n,), {}, {}, message_timestamp=current_millis())
            cursor.execute(
                "insert into dramatiq.queue (message_id, queue_name, state, message) values (%s, 'default', %s, %s)",
                (message.message_id, state, message.encode().decode()),
            )
    conn.close()
    theirs.pool.closeall()
