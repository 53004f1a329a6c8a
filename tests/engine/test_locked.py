"""What somebody else holds on to, in a transaction that stays open, stops nothing but itself."""

from __future__ import annotations

import threading

import dramatiq
import psycopg2
import pytest

from jobbko import store
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are, rows


@pytest.fixture
def somebody(database):
    """Somebody else's connection, with a transaction open."""
    conn = psycopg2.connect(database)
    yield conn.cursor()
    conn.close()


def test_a_locked_running_job_holds_up_no_other(broker, somebody):
    go, others = threading.Event(), []

    @dramatiq.actor
    def locked():
        go.wait(5)

    @dramatiq.actor
    def work(n):
        others.append(n)

    locked.send()
    with working(broker, threads=2):
        until(lambda: all_are("running"))
        somebody.execute("select from job_queue for update")
        go.set()
        broker.enqueue_many(work.message(n) for n in range(200))
        until(lambda: len(others) == 200, timeout=5)
        until(lambda: store.value("select count(*) from job_queue where status = 'completed'") == 200, timeout=5)
        somebody.connection.rollback()
        until(lambda: all_are("completed"))
    assert sorted(others) == list(range(200))


def test_a_key_that_somebody_is_just_taking_holds_up_only_what_follows_with_it(broker, somebody):
    others = []

    @dramatiq.actor
    def next_one():
        pass

    @dramatiq.actor
    def first():
        pass

    @dramatiq.actor
    def work(n):
        others.append(n)

    @broker.follows(first)
    def then(result):
        yield next_one.message_with_options(dedupe_key="k")

    with working(broker, threads=2):
        until(lambda: store.value("select count(*) from job_type") == 3)
        somebody.execute("select enqueue_job('next_one', '{}', dedupe_key => 'k')")
        first.send()
        broker.enqueue_many(work.message(n) for n in range(100))
        until(lambda: len(others) == 100, timeout=5)
        until(lambda: store.value("select count(*) from job_queue where status = 'completed'") == 100, timeout=5)
        somebody.connection.rollback()
        until(lambda: all_are("completed") and len(rows()) == 102)


def test_a_worker_stops_although_the_end_of_a_job_is_locked(broker, somebody):
    done = threading.Event()

    @dramatiq.actor
    def work():
        done.set()

    work.send()
    lock = threading.Event()

    @dramatiq.actor
    def never():
        lock.wait()

    with working(broker, threads=1):
        until(done.is_set)
        until(lambda: all_are("completed"))
        somebody.execute("select from job_queue for update")


def test_a_generator_may_undo_a_part_of_the_transaction_that_it_is_read_in(broker):
    @dramatiq.actor
    def work(n):
        pass

    def messages():
        for n in range(5000):
            if n % 500 == 0:
                try:
                    with store.transaction():
                        store.run("insert into job_hold (collection_node_id, subject) select id, 'x' from nodes")
                        raise KeyError
                except KeyError:
                    pass
            yield work.message(n)

    assert broker.enqueue_many(messages()) == 5000
    assert store.value("select count(distinct payload->>'n') from job_queue") == 5000
    assert store.value("select count(*) from job_hold") == 0


def test_a_notification_that_anybody_can_send_cancels_nothing(broker):
    go = threading.Event()

    @dramatiq.actor
    def work():
        go.wait(5)

    work.send()
    with working(broker):
        until(lambda: all_are("running"))
        (row,) = rows()
        store.run("select pg_notify('jobbko_cancel', ''), pg_notify('jobbko_cancel', %(id)s)", id=row.id)
        threading.Event().wait(0.3)
        go.set()
        until(lambda: all_are("completed"))


def test_a_gate_of_an_odd_name_stops_no_turn(broker):
    @dramatiq.actor
    def work():
        pass

    store.run("insert into queue_state (gate, closed, reason) values ('collection:odd', true, 'outage')")
    work.send()
    with working(broker):
        until(lambda: all_are("completed"))
