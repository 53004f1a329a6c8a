"""dramatiq-pg beside us on the same database: its producers and its command line."""

from __future__ import annotations

import subprocess
import sys
import time

import dramatiq
import dramatiq_pg
import pytest
from dramatiq import Message

from jobbko import store
from jobbko.testing.worker import until, working
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


def test_a_producer_with_a_broken_clock_is_not_refused(broker, ran, producer):
    message = producer.message(1).copy(message_timestamp=1_764_500_000_000_000)
    producer.broker.enqueue(message)
    with working(broker):
        until(lambda: ran == [(1, "red")])
