"""Rows that make no sense: refused at the door, or of no harm to anybody else's."""

from __future__ import annotations

import dramatiq
import psycopg2
import pytest

from jobbko import store
from jobbko.testing.worker import until, working
from tests.engine.conftest import statuses

UNREADABLE = {
    "exponent": '{"n": 1e5000}',
    "brackets": '{"n": ' + "[" * 1500 + "]" * 1500 + "}",
    "digits": '{"n": ' + "9" * 5000 + "}",
}


@pytest.mark.parametrize("payload", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_row_that_python_cannot_read_holds_up_nobody(broker, payload):
    ran = []

    @dramatiq.actor
    def work(n):
        ran.append(n)

    broker.job_types.publish()
    store.run("insert into job_queue (job_type, payload, priority) values ('work', %(p)s, 10)", p=payload)
    for n in range(10):
        work.send(n)
    with working(broker):
        until(lambda: sorted(n for n in ran if isinstance(n, int)) == list(range(10)))
        until(lambda: statuses().count("completed") >= 10 and "running" not in statuses())


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        ("scheduled_for", "'infinity'"),
        ("scheduled_for", "'0100-01-01 BC'"),
        ("created_at", "'12000-01-01'"),
        ("args", "'5'"),
        ("options", "'[]'"),
        ("max_attempts", "0"),
        ("payload", "'null'"),
    ],
)
def test_a_row_that_makes_no_sense_is_refused_at_the_door(broker, columns, values):
    @dramatiq.actor
    def work():
        pass

    broker.job_types.publish()
    with pytest.raises(psycopg2.Error):
        store.run(f"insert into job_queue (job_type, {columns}) values ('work', {values})")


def test_an_insert_cannot_pretend_that_a_job_runs(broker):
    @dramatiq.actor
    def work():
        pass

    broker.job_types.publish()
    store.run("insert into job_queue (job_type, state, options) values ('work', 'consumed', '{\"eta\": 1}')")
    with working(broker):
        until(lambda: statuses() == ["completed"])
    assert store.value("select started_at is not null from job_queue")
