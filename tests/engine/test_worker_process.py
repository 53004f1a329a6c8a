"""The real `dramatiq` command: killed, stopped, restarted."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter

import pytest

from jobbko import store
from jobbko.testing.worker import until
from tests.engine.apps import marks as app
from tests.engine.conftest import failures, rows, statuses
from tests.engine.processes import dramatiq_worker, kill, mark_table, marks, stop

__all__ = ["mark_table"]
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("mark_table")]


def test_jobs_of_a_killed_worker_run_again_within_the_lease_and_one_sweep():
    # graphile/worker#204, #198, #222; pgqueuer#475; river#682: no row stays "running".
    app.long.send(1, seconds=3)
    with dramatiq_worker() as worker:
        until(lambda: marks() == ["start 1"], timeout=20)
        kill(worker)
    with dramatiq_worker() as worker:
        until(lambda: marks()[-1] == "end 1", timeout=20)
        until(lambda: statuses() == ["completed"])
        stop(worker)

    assert marks() == ["start 1", "start 1", "end 1"]
    assert failures() == [(1, "retry", "crashed")]
    again = store.value(
        "select extract(epoch from min(at) filter (where text = 'start 1' and n > 1) - (select ended_at from"
        " job_attempt_failed)) from mark"
    )
    assert float(again) < 5


def test_nothing_is_lost_or_left_over_when_the_worker_is_killed_again_and_again():
    for n in range(300):
        (app.first.message(n) | app.second.message()).run()
    for _ in range(3):
        with dramatiq_worker(threads=4) as worker:
            seen = len(marks())
            until(lambda seen=seen: len(marks()) > seen + 20, timeout=20)
            kill(worker)
    with dramatiq_worker(threads=4) as worker:
        until(lambda: len(rows()) == 600 and set(statuses()) == {"completed"}, timeout=60)
        stop(worker)

    # At least once for each; doubled only what ran when the worker was killed; never a second step without a first.
    ran = Counter(marks())
    assert set(ran) == {f"{step} {n}" for step in ("first", "second") for n in range(300)}


def test_a_job_that_kills_its_worker_dies_on_the_fifth_time_and_says_why():
    # Bogdanp/dramatiq#213, #383
    app.killer.send()
    for _ in range(5):
        with dramatiq_worker() as worker:
            seen = len(marks())
            until(lambda seen=seen: len(marks()) == seen + 1, timeout=20)
            worker.wait(timeout=20)
    with dramatiq_worker() as worker:
        until(lambda: statuses() == ["error"], timeout=20)
        stop(worker)

    assert marks() == ["killer"] * 5
    assert failures() == [(n, "retry", "crashed") for n in (1, 2, 3, 4)] + [(5, "dead", "crashed")]
    assert rows()[0].error_msg == "the worker that ran this job died or was cut off"


def test_a_stopping_worker_finishes_what_runs_and_claims_nothing_more():
    # Bogdanp/dramatiq#618; dbos-inc/dbos-transact-py#546
    app.long.send(1)
    with dramatiq_worker(threads=1) as worker:
        until(lambda: marks() == ["start 1"], timeout=20)
        worker.terminate()
        app.short.send(2)
        app.short.send(3)
        assert worker.wait(timeout=30) == 0

    assert marks() == ["start 1", "end 1"]
    assert [(row.status, row.attempts) for row in rows()] == [("completed", 0), ("pending", 0), ("pending", 0)]


def test_a_job_that_outlasts_the_stop_is_given_back_free_of_charge():
    app.long.send(1, seconds=60)
    with dramatiq_worker("--worker-shutdown-timeout", "1000", threads=1) as worker:
        until(lambda: marks() == ["start 1"], timeout=20)
        stop(worker)
    assert [(row.status, row.attempts) for row in rows()] == [("pending", 0)]
    assert failures() == [(1, "refunded", "shutdown")]


def test_a_worker_process_with_a_dead_thread_stops_and_its_neighbours_jobs_finish():
    # Bogdanp/dramatiq#445, #211, #505
    app.long.send(1)
    app.thread_killer.send()
    with dramatiq_worker(threads=2) as worker:
        worker.wait(timeout=30)

    assert "end 1" in marks()
    assert rows("job_type = 'long'")[0].status == "completed"


def test_when_one_of_two_processes_dies_the_jobs_of_both_are_done_in_the_end():
    app.broker.enqueue_many(app.steady.message(n) for n in range(60))
    with dramatiq_worker() as one, dramatiq_worker() as other:
        until(lambda: len(marks()) > 10, timeout=20)
        kill(one)
        until(lambda: set(statuses()) == {"completed"}, timeout=60)
        stop(other)
    assert {f"steady {n}" for n in range(60)} == set(marks())


def test_a_long_job_is_never_taken_for_dead():
    # oban-bg/oban#1141; hexpm/hexpm#1825: ten times the lease.
    app.long.send(1, seconds=4)
    with dramatiq_worker(JOBBKO_LEASE="0.4") as one, dramatiq_worker(JOBBKO_LEASE="0.4") as two:
        until(lambda: statuses() == ["completed"], timeout=30)
        stop(one)
        stop(two)
    assert marks() == ["start 1", "end 1"]


def test_a_frozen_worker_comes_back_too_late_and_changes_nothing():
    app.long.send(1, seconds=1)
    with dramatiq_worker(threads=1) as frozen:
        until(lambda: marks() == ["start 1"], timeout=20)
        os.killpg(frozen.pid, signal.SIGSTOP)
        with dramatiq_worker(threads=1) as healthy:
            until(lambda: statuses() == ["completed"], timeout=30)
            token = store.value("select mtime from job_queue")
            os.killpg(frozen.pid, signal.SIGCONT)
            # Both say again that they are alive; by then the late one has ended its job, or has been interrupted in it.
            awake = "select count(*) = 2 from worker where heartbeat_at > %(since)s"
            since = store.value("select clock_timestamp()")
            until(lambda: store.value(awake, since=since), timeout=30)
            threading.Event().wait(0.5)
            stop(healthy)
        stop(frozen)
    assert store.value("select mtime from job_queue") == token
    assert [(row.status, row.attempts) for row in rows()] == [("completed", 1)]
