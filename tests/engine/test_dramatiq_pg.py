"""dramatiq-pg beside us on the same database: its producers, its command line, and a database that it made."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
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


@pytest.fixture
def producer(broker, database):
    """Somebody else's process: dramatiq-pg as it is, knowing the same actor."""
    theirs = dramatiq_pg.PostgresBroker(url=database, results=False)

    @dramatiq.actor(broker=theirs)
    def work(n, colour="red"):
        raise AssertionError("only ours runs jobs")

    yield work
    theirs.pool.closeall()


@pytest.fixture
def ran(broker):
    seen = []

    @dramatiq.actor(priority=7)
    def work(n, colour="red"):
        seen.append((n, colour))

    broker.job_types.publish()
    return seen


def test_a_producers_message_is_run(broker, ran, producer):
    producer.send(1, colour="blue")

    (row,) = rows()
    assert (row.job_type, row.payload, row.priority) == ("work", {"n": 1, "colour": "blue"}, 7)
    with working(broker):
        until(lambda: ran == [(1, "blue")])


def test_a_producers_delayed_message_waits_in_the_table_and_is_run(broker, ran, producer):
    producer.send_with_options(args=(1,), delay=300)

    assert store.rows("select due, queue_name from job_queue") == [(False, "default")]
    with working(broker):
        until(lambda: ran == [(1, "red")])


def test_a_producers_pipeline_goes_on(broker, ran, producer):
    done = []

    @dramatiq.actor
    def after(n):
        done.append(n)

    message = producer.message(1)
    message.options["pipe_target"] = after.message_with_options(args=(5,), pipe_ignore=True).asdict()
    producer.broker.enqueue(message)
    with working(broker):
        until(lambda: done == [5])


def test_a_message_that_cannot_run_is_a_dead_letter_and_never_an_error(broker, ran, producer):
    # dramatiq-pg answers an error with ten tries and random pauses of up to 30 s.
    started = time.monotonic()
    producer.send(1, 2, 3)
    producer.send_with_options(kwargs={"wrong": 1})
    producer.send("x" * 70_000)
    assert time.monotonic() - started < 5

    assert statuses() == ["error"] * 3
    assert "wrong" in rows()[1].error_msg
    assert "more than 65536" in rows()[2].error_msg
    # Whoever wants to look has the whole message.
    assert (
        store.value("select length(message->'args'->>0) from job_queue where message is not null order by seq desc")
        == 70_000
    )


def test_what_is_no_message_at_all_is_a_dead_letter(broker):
    for message in ("[]", '"text"', "{}", '{"actor_name": "work", "args": 7, "kwargs": {}, "options": {}}'):
        store.run(
            "insert into dramatiq.queue (message_id, queue_name, state, message)"
            " values (gen_random_uuid(), 'default', 'queued', %(message)s::jsonb)",
            message=message,
        )
    assert statuses() == ["error"] * 4


def test_a_message_for_a_job_that_no_worker_knows_waits_for_one(broker, producer):
    producer.send(4)
    assert statuses() == ["pending"]

    seen = []

    @dramatiq.actor
    def work(n, colour="red"):
        seen.append(n)

    with working(broker):
        until(lambda: seen == [4])


def test_sending_a_dead_job_again_revives_it(broker, ran, producer):
    message = producer.message(1)
    producer.broker.enqueue(message)
    store.run("update job_queue set state = 'rejected', attempts = 5, lease_token = gen_random_uuid()")
    assert statuses() == ["error"]

    producer.broker.enqueue(message)
    assert [(row.status, row.attempts) for row in rows()] == [("pending", 0)]


def command(database, *arguments):
    run = subprocess.run(
        [sys.executable, "-m", "dramatiq_pg.cli", "--dsn", database, *arguments],
        capture_output=True,
        text=True,
        env={"PYTHONWARNINGS": "ignore"},
    )
    assert run.returncode == 0, run.stderr
    return run.stdout + run.stderr


@pytest.fixture
def one_of_each(broker, ran):
    """Rows: 2 queued, 1 consumed with a live lease, 1 whose lease ran out, 1 done, 1 rejected."""
    broker.enqueue_many(Message("default", "work", (n,), {}, {}) for n in range(6))
    ids = [row.id for row in rows()]
    state = (
        "update job_queue set state = %(state)s, lease_token = gen_random_uuid(), mtime = now() - interval '90 days',"
        " lease_until = clock_timestamp() + %(lease)s::interval where id = %(id)s"
    )
    store.run(state, state="consumed", lease="1 hour", id=ids[2])
    store.run(state, state="consumed", lease="-1 hour", id=ids[3])
    store.run(state, state="done", lease="0", id=ids[4])
    store.run(state, state="rejected", lease="0", id=ids[5])
    return ids


def test_stats_counts(database, one_of_each):
    assert command(database, "stats").split() == ["queued:", "2", "consumed:", "2", "done:", "1", "rejected:", "1"]


def test_purge_deletes_what_is_over(database, one_of_each):
    assert "Deleted 2 messages" in command(database, "purge", "--maxage", "30 days")
    assert statuses() == ["pending", "pending", "running", "running"]


def test_flush_deletes_what_waits_and_leaves_a_leased_row(database, one_of_each):
    command(database, "flush")
    assert [row.id for row in rows("state = 'consumed'")] == [one_of_each[2]]
    assert statuses() == ["running", "completed", "error"]


def test_recover_gives_back_only_what_has_no_lease(database, one_of_each):
    assert "Recovered 1 messages" in command(database, "recover", "--minage", "1 min")
    assert [row.status for row in rows(f"id in ('{one_of_each[2]}', '{one_of_each[3]}')")] == ["running", "pending"]


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


def test_a_producer_with_a_broken_clock_is_not_refused(broker, ran, producer):
    message = producer.message(1).copy(message_timestamp=1_764_500_000_000_000)
    producer.broker.enqueue(message)
    with working(broker):
        until(lambda: ran == [(1, "red")])


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
