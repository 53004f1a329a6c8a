"""The connection to Postgres breaks, at the worst moments."""

from __future__ import annotations

import threading

import dramatiq
import psycopg2
import pytest
from dramatiq.errors import ConnectionError as Unreachable

from jobbko import settings, store
from jobbko.engine.database_errors import connection_lost
from jobbko.store import queue
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are, failures, rows, statuses

CUT = """select pid from (select pid, pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()) cut"""


def gone(cursor, pids) -> bool:
    cursor.execute("select count(*) from pg_stat_activity where pid = any (%s)", [pids])
    return cursor.fetchone() == (0,)


@pytest.fixture
def cut(database: str):
    """Terminate every connection to the test's database, as a failover does."""
    conn = psycopg2.connect(database)
    conn.autocommit = True

    def cut_all() -> int:
        with conn.cursor() as cursor:
            cursor.execute(CUT)
            pids = [pid for (pid,) in cursor.fetchall()]
            until(lambda: gone(cursor, pids))
            return len(pids)

    yield cut_all
    conn.close()


def test_a_connection_cut_while_a_job_runs_neither_doubles_nor_charges_it(broker, cut):
    started, go_on, ran = threading.Event(), threading.Event(), []

    @dramatiq.actor
    def work():
        ran.append(1)
        started.set()
        go_on.wait(10)

    work.send()
    with working(broker):
        assert started.wait(5)
        assert cut() >= 2
        go_on.set()
        until(lambda: statuses() == ["completed"])
    assert ran == [1]
    assert failures() == []


def test_a_failure_is_recorded_although_the_connection_broke_before_it_could_be(broker, cut):
    # Bogdanp/dramatiq#545: the retry was lost and the message acknowledged.
    started, go_on = threading.Event(), threading.Event()

    @dramatiq.actor
    def work():
        started.set()
        go_on.wait(10)
        raise ValueError("broken")

    work.send()
    with working(broker):
        assert started.wait(5)
        cut()
        go_on.set()
        until(lambda: statuses() == ["retry"])
    assert failures() == [(1, "retry", "internal")]


def test_jobs_start_and_wake_ups_return_after_the_listening_connection_was_cut(broker, cut, monkeypatch):
    # goauthentik/authentik#26232; taskforcesh/bullmq#4729; tobymao/saq#163
    ran = []

    @dramatiq.actor
    def work(n):
        ran.append(n)

    monkeypatch.setattr(settings, "POLL_INTERVAL", 30)  # only the doorbell can wake it
    with working(broker):
        cut()
        until(lambda: "listen jobbko" in [text for (text,) in store.rows(LAST_STATEMENTS)] or dispatcher_is_idle())
        work.send(1)
        until(lambda: ran == [1], timeout=5)
        work.send(2)
        until(lambda: ran == [1, 2], timeout=5)


LAST_STATEMENTS = "select query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"


def dispatcher_is_idle() -> bool:
    return any(text.startswith("select * from job_turn") for (text,) in store.rows(LAST_STATEMENTS))


def test_what_a_lost_answer_had_claimed_is_given_back_at_once(broker, monkeypatch):
    # One statement assigns a job (hatchet-dev/hatchet#4494); if its answer is lost, nobody knows of the lease.
    ran, real, fail = [], queue.turn, [True]

    @dramatiq.actor
    def work(n):
        ran.append(n)

    def turn(*args):
        answer = real(*args)
        if answer.jobs and fail[0]:
            fail[0] = False
            raise psycopg2.OperationalError("server closed the connection unexpectedly")
        return answer

    monkeypatch.setattr(queue, "turn", turn)
    work.send(1)
    with working(broker):
        until(lambda: statuses() == ["completed"], timeout=10)
    assert ran == [1]
    assert failures() == []


def test_an_end_whose_answer_was_lost_is_written_once(broker, monkeypatch):
    # goauthentik/authentik#23218: the database first, memory second.
    ran, real, fail = [], queue.turn, [True]

    @dramatiq.actor
    def first(n):
        ran.append(n)
        return n

    @dramatiq.actor
    def second(n):
        ran.append(n * 10)

    def turn(done, ended, *args):
        answer = real(done, ended, *args)
        if ended and fail[0]:
            fail[0] = False
            raise psycopg2.OperationalError("server closed the connection unexpectedly")
        return answer

    monkeypatch.setattr(queue, "turn", turn)
    (first.message(1) | second.message()).run()
    with working(broker):
        until(lambda: len(rows()) == 2 and all_are("completed"))
    assert ran == [1, 10]


def test_a_job_that_loses_its_own_connection_is_not_charged(broker, monkeypatch):
    monkeypatch.setattr("jobbko.engine.retries.RECONNECT", 0.05)
    tries = []

    @dramatiq.actor
    def work():
        tries.append(1)
        with store.transaction():
            store.value("select 1")
            if len(tries) == 1:
                store.value("select pg_terminate_backend(pg_backend_pid())")

    work.send()
    with working(broker):
        until(lambda: statuses() == ["completed"])
    assert rows()[0].attempts == 0
    assert failures() == [(1, "refunded", "database")]


def test_a_wrong_statement_is_a_bug_and_not_a_lost_connection():
    with pytest.raises(psycopg2.Error) as wrong:
        raise psycopg2.errors.UndefinedTable("relation does not exist")
    assert not connection_lost(wrong.value)


def test_sending_survives_a_connection_that_the_server_closed(broker, cut):
    @dramatiq.actor
    def work(n):
        pass

    work.send(1)
    cut()
    work.send(2)
    assert len(rows()) == 2


def test_sending_from_a_job_while_the_server_is_away_is_not_charged(broker, monkeypatch):
    monkeypatch.setattr("jobbko.engine.retries.RECONNECT", 0.05)
    tries = []

    @dramatiq.actor
    def other():
        pass

    @dramatiq.actor
    def work():
        tries.append(1)
        if len(tries) == 1:
            lost = psycopg2.OperationalError("server closed the connection")
            lost._lost_our_database = True
            raise Unreachable("cannot enqueue") from lost
        other.send()

    work.send()
    with working(broker):
        until(lambda: statuses() == ["completed", "completed"])
    assert failures() == [(1, "refunded", "database")]
