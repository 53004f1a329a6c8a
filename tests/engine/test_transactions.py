"""Transactions that a job or a task leaves open, or whose errors it swallows."""

from __future__ import annotations

import asyncio
import contextlib

import dramatiq
import psycopg2
import pytest

from jobbko import store
from jobbko.testing.worker import until, working
from tests.engine.conftest import rows, statuses


def test_a_swallowed_error_does_not_make_a_transaction_a_silent_rollback(broker):
    def swallow():
        with store.transaction():
            store.run("insert into job_limit (name, max_running) values ('x', 1)")
            with contextlib.suppress(psycopg2.Error):
                store.run("select 1/0")

    with pytest.raises(psycopg2.errors.InFailedSqlTransaction, match="nothing was written"):
        swallow()
    assert store.value("select count(*) from job_limit") == 0


def test_a_task_that_outlives_the_transaction_is_not_in_the_next_ones(database):
    async def main():
        go_on = asyncio.Event()

        async def late():
            await go_on.wait()
            store.run("insert into job_limit (name, max_running) values ('late', 1)")

        with store.transaction():
            task = asyncio.create_task(late())
            await asyncio.sleep(0)
        with pytest.raises(ZeroDivisionError), store.transaction():  # noqa: PT012
            go_on.set()
            await task
            raise ZeroDivisionError

    asyncio.run(main())
    assert store.rows("select name from job_limit") == [("late",)]


def test_a_transaction_that_a_job_left_open_is_undone_and_the_job_has_failed(broker):
    left = []

    @dramatiq.actor(max_attempts=1)
    def careless():
        left.append(store.transaction())
        left[-1].__enter__()
        store.run("insert into job_limit (name, max_running) values ('careless', 1)")

    @dramatiq.actor
    def next_one(n):
        store.run("insert into job_limit (name, max_running) values (%(n)s, 1)", n=str(n))

    careless.send()
    with working(broker, threads=1):
        until(lambda: statuses() == ["error"])
        for n in range(3):
            next_one.send(n)
        until(lambda: statuses() == ["error"] + ["completed"] * 3)
    assert [name for (name,) in store.rows("select name from job_limit order by name")] == ["0", "1", "2"]
    assert "left a transaction open" in rows()[0].error_msg
    for each in left:
        each.gen.close()
