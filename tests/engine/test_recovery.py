"""The connection to Postgres breaks, at the worst moments."""

from __future__ import annotations

import threading

import dramatiq
import psycopg2
import pytest

from jobbko import settings, store
from jobbko.engine.database_errors import connection_lost
from jobbko.engine.leases import sweep
from jobbko.store import pool, queue
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


def test_a_doorbell_that_rings_during_a_turn_is_heard(broker, monkeypatch):
    ran, real, late = [], queue.turn, [True]

    @dramatiq.actor
    def work(n):
        ran.append(n)

    def turn(*args):
        answer = real(*args)
        if late:
            late.clear()
            with store.using(None):
                work.send(1)  # too late for this turn to see
            store.value("select 1")  # the notification arrives with an answer, not on an idle socket
        return answer

    monkeypatch.setattr(settings, "POLL_INTERVAL", 30)
    monkeypatch.setattr(queue, "turn", turn)
    with working(broker):
        until(lambda: ran == [1], timeout=5)


def test_a_thousand_stray_doorbells_do_not_keep_the_worker_from_looking(broker):
    # goauthentik/authentik#26152
    ran, stop = [], threading.Event()

    @dramatiq.actor
    def work(n):
        ran.append(n)

    def ring_all_the_time():
        while not stop.is_set():
            queue.ring()

    ringer = threading.Thread(target=ring_all_the_time)
    with working(broker):
        ringer.start()
        try:
            for n in range(20):
                work.send(n)
            until(lambda: len(ran) == 20, timeout=10)
        finally:
            stop.set()
            ringer.join()


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


@pytest.fixture
def brief_lease(monkeypatch):
    """Nobody is charged for a lease from before the server came up; the test's server may be only seconds old."""
    monkeypatch.setattr(settings, "LEASE", 0.2)


def abandon(where: str = "true") -> None:
    """As a worker leaves its jobs that was killed a while ago."""
    store.run(
        "update job_queue set state = 'consumed', lease_token = gen_random_uuid(), started_at = clock_timestamp(),"
        f" lease_until = clock_timestamp() - interval '1 second', worker = gen_random_uuid() where {where}"
    )


def test_one_bad_row_does_not_stop_the_sweep(broker):
    # dbos-inc/dbos-transact-py#805, #804
    @dramatiq.actor
    def work(n):
        pass

    for n in range(5):
        work.send(n)
    abandon()
    # What no statement can write: a trigger of somebody's own that refuses one of the rows.
    store.run(
        "create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;"
        "create trigger refuse before update on job_queue for each row when (old.payload = '{\"n\": 2}')"
        " execute function refuse()"
    )

    assert sweep() == 4
    assert statuses().count("running") == 1


def test_equal_jobs_of_a_dead_worker_become_one(broker, brief_lease):
    @dramatiq.actor(dedupe=True)
    def work(n):
        pass

    for _ in range(2):
        work.send(1)
        abandon("state = 'queued'")
    assert len(rows()) == 2

    assert sweep() == 2
    assert sorted(statuses()) == ["cancelled", "retry"]


def test_nobody_is_charged_for_leases_that_ran_out_while_the_server_was_down(broker):
    @dramatiq.actor
    def work(n):
        pass

    work.send(1)
    # Last renewed before the server came up, as far as the row can tell.
    store.run(
        "update job_queue set state = 'consumed', lease_token = gen_random_uuid(), started_at = clock_timestamp(),"
        " lease_until = pg_postmaster_start_time(), worker = gen_random_uuid()"
    )
    assert sweep() == 1
    assert rows()[0].attempts == 0
    assert failures() == [(1, "refunded", "crashed")]


def test_the_workers_row_is_only_for_show(broker):
    # procrastinate-org/procrastinate#1518; oban-bg/oban#862: orphans are found by their lease.
    @dramatiq.actor
    def work():
        pass

    work.send()
    abandon()
    assert store.value("select count(*) from worker") == 0
    assert sweep() == 1
    assert "running" not in statuses()


def test_each_start_of_a_worker_has_an_identity_of_its_own(broker):
    for _ in range(2):
        with working(broker):
            pass
    assert store.value("select count(distinct id) from worker where stopped_at is not null") == 2


def test_an_answered_pool_is_per_process(database):
    store.value("select 1")
    import os

    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if store.value("select 2") == 2 and len(pool._pools) == 2 else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.value("select 3") == 3
