"""A worker's turn that the database refuses, cuts or keeps waiting freezes nothing."""

from __future__ import annotations

import threading

import dramatiq
import psycopg2
import pytest

from jobbko import settings, store
from jobbko.store import pool, queue
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are

REFUSALS = [psycopg2.errors.LockNotAvailable, psycopg2.errors.QueryCanceled, psycopg2.errors.DeadlockDetected]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda error: error.__name__)
def test_a_turn_that_is_refused_for_a_moment_freezes_nothing(broker, monkeypatch, refusal):
    ran, real, times = [], queue.turn, [4]

    @dramatiq.actor
    def work(n):
        ran.append(n)

    def turn(done, ended, *args):
        if (done or ended) and times[0] > 0:
            times[0] -= 1
            store.run("set local lock_timeout = 0")  # a statement, so that the connection is in use
            raise make(refusal)
        return real(done, ended, *args)

    def make(kind):
        error = kind("refused")
        return error

    monkeypatch.setattr("jobbko.engine.dispatcher.RECONNECT", 0.05)
    monkeypatch.setattr(queue, "turn", turn)
    monkeypatch.setattr("jobbko.engine.dispatcher.passing", lambda error: isinstance(error, refusal))
    broker.enqueue_many(work.message(n) for n in range(40))
    with working(broker, threads=4):
        until(lambda: all_are("completed"))
    assert sorted(ran) == list(range(40))


def test_a_table_that_is_locked_for_longer_than_the_statement_may_take_freezes_nothing(broker, database, monkeypatch):
    monkeypatch.setattr(settings, "DATABASE_URL", f"{database}&options=-c%20statement_timeout%3D150")
    pool.close()
    started = threading.Event()

    @dramatiq.actor
    def work(n):
        started.set()
        threading.Event().wait(0.02)

    broker.enqueue_many(work.message(n) for n in range(40))
    locker = psycopg2.connect(database)
    with working(broker, threads=4):
        assert started.wait(5)
        locker.cursor().execute("lock table job_queue in access exclusive mode")
        threading.Event().wait(0.6)
        locker.rollback()
        until(lambda: all_are("completed"))
    locker.close()


def test_a_give_back_that_is_cut_is_made_up_for_after_reconnecting(broker, monkeypatch):
    hold, real, fail = threading.Event(), queue.turn, [True]

    @dramatiq.actor
    def work(n):
        if n >= 300:
            hold.wait(10)

    def turn(done, ended, *args):
        if fail[0] and any(item["state"] == "queued" for item in ended):
            fail[0] = False
            raise psycopg2.OperationalError("server closed the connection unexpectedly")
        return real(done, ended, *args)

    monkeypatch.setattr("jobbko.engine.dispatcher.RECONNECT", 0.05)
    monkeypatch.setattr(queue, "turn", turn)
    broker.enqueue_many(work.message(n) for n in range(360))
    with working(broker, threads=2):
        until(lambda: not fail[0])
        hold.set()
        until(lambda: all_are("completed"))
