"""Jobs for later wait in the table, not in a worker."""

from __future__ import annotations

import dramatiq

from jobbko import settings, store
from jobbko.testing.worker import until, working
from tests.engine.conftest import rows, statuses


def test_a_delayed_job_is_one_row_and_runs_once_when_it_is_due(broker, monkeypatch):
    # Bogdanp/dramatiq#431
    monkeypatch.setattr(settings, "POLL_INTERVAL", 30)
    ran = []

    @dramatiq.actor
    def work(n):
        ran.append(n)

    work.send_with_options(args=(1,), delay=300)
    due_at = store.value("select scheduled_for from job_queue")
    with working(broker, threads=4):
        until(lambda: ran == [1])
        started_at = store.value("select started_at from job_queue")
        assert len(rows()) == 1
        # Not before it is due, and not when somebody looks next.
        assert 0 <= (started_at - due_at).total_seconds() < 5
    assert ran == [1]


def test_a_job_due_after_twice_the_lease_runs_once(broker, monkeypatch):
    # Bogdanp/dramatiq#827, #877; celery/celery#2599
    monkeypatch.setattr(settings, "LEASE", 0.3)
    ran = []

    @dramatiq.actor
    def work(n):
        ran.append(n)

    work.send_with_options(args=(1,), delay=700)
    with working(broker, threads=2):
        until(lambda: statuses() == ["completed"])
    assert ran == [1]


def test_a_job_for_tomorrow_is_not_touched(broker):
    ran = []

    @dramatiq.actor
    def work(n):
        ran.append(n)

    broker.enqueue_many((work.message(n) for n in range(100)), delay=86_400_000)
    work.send("now")
    with working(broker):
        until(lambda: ran == ["now"])
        until(lambda: statuses() == ["pending"] * 100 + ["completed"])
        until(lambda: not broker.process.dispatcher.held)
    assert statuses() == ["pending"] * 100 + ["completed"]


def test_no_delay_queue_is_declared(broker):
    @dramatiq.actor
    def work():
        pass

    with working(broker) as worker:
        assert list(worker.consumers) == ["default"]


def test_of_many_jobs_that_became_due_at_once_the_most_urgent_is_first(broker):
    order = []

    @dramatiq.actor
    def work(n):
        order.append(n)

    broker.job_types.publish()
    store.run(
        "insert into job_queue (job_type, payload, scheduled_for) select 'work', jsonb_build_object('n', n),"
        " clock_timestamp() + interval '0.2 s' from generate_series(1, 3000) n"
    )
    work.send_with_options(args=("urgent",), priority=10, delay=300)
    until(lambda: store.value("select bool_and(scheduled_for < clock_timestamp()) from job_queue"))
    with working(broker, threads=1):
        until(lambda: len(order) > 10)
    assert order[0] == "urgent"
