"""Jobs that end as nobody expects: failures that cannot be judged, results that cannot be written."""

from __future__ import annotations

import sys
from datetime import datetime

import dramatiq
import psycopg2
import pytest

from jobbko import store
from jobbko.errors import Charged, GateClosed, Throttled
from jobbko.testing.worker import until, working
from tests.engine.conftest import failures, rows, statuses


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("I cannot say")


def circle():
    found: list[object] = []
    found.append(found)
    return found


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (Mute(), {}),
        (ValueError(), {"retry_when": lambda count, error: 1 / 0}),
        (ValueError(), {"backoff": "1m"}),
        (Charged(Mute(), "kind"), {}),
    ],
    ids=["mute", "retry_when", "backoff", "kind"],
)
def test_a_failure_that_cannot_be_judged_is_a_failure(broker, error, options):
    @dramatiq.actor(**options)
    def work():
        raise error

    work.send()
    with working(broker):
        until(lambda: statuses() == ["retry"])
    assert len(failures()) == 1


@pytest.mark.parametrize("wish", [float("nan"), float("inf"), "soon", -5, 1e15], ids=str)
def test_a_senseless_retry_after_is_an_outage_like_any_other(broker, wish):
    @dramatiq.actor
    def work():
        raise Throttled("service", retry_after=wish)

    work.send()
    with working(broker):
        until(lambda: failures() == [(1, "refunded", "throttled")])
    seconds = store.value("select extract(epoch from resume_at - since) from queue_state")
    assert 0.9 < float(seconds) <= 3600


def test_a_gates_time_without_a_zone_is_utc(broker):
    @dramatiq.actor
    def work():
        raise GateClosed("llm", "credit", datetime(2030, 1, 1))

    work.send()
    with working(broker):
        until(lambda: failures() != [])
    assert str(store.value("select resume_at at time zone 'UTC' from queue_state")) == "2030-01-01 00:00:00"


def test_a_cursor_of_the_jobs_own_that_is_closed_is_the_jobs_own_bug(broker, database):
    @dramatiq.actor(max_attempts=1)
    def work():
        conn = psycopg2.connect(database)
        cursor = conn.cursor()
        conn.close()
        cursor.execute("select 1")

    work.send()
    with working(broker):
        until(lambda: statuses() == ["error"])


@pytest.mark.parametrize("result", [10**5000, circle(), Mute()], ids=["digits", "circle", "mute"])
def test_a_result_that_cannot_be_written_is_that_jobs_failure_only(broker, result):
    @dramatiq.actor(max_attempts=1)
    def bad():
        return result

    @dramatiq.actor
    def good(n):
        return n

    bad.send()
    broker.enqueue_many(good.message(n) for n in range(20))
    with working(broker):
        until(lambda: sorted(statuses()) == ["completed"] * 20 + ["error"])
    assert "the result cannot be written" in rows("status = 'error'")[0].error_msg


def test_nul_and_lone_surrogates_in_an_error_are_recorded(broker):
    # fazer-ai/agents#243: neither retried nor dead-lettered.
    @dramatiq.actor(max_attempts=2, backoff=0.01)
    def work():
        raise ValueError("a\x00b\udc80c")

    work.send()
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert rows()[0].error_msg == "ValueError: ab\ufffdc"


def test_a_result_that_json_cannot_hold_is_kept_as_far_as_possible(broker):
    @dramatiq.actor
    def work():
        return {"nan": float("nan"), "text": "a\x00b\ud800", "when": datetime(2026, 1, 2), "x\x00": 1}

    work.send()
    with working(broker):
        until(lambda: statuses() == ["completed"])
    assert rows()[0].result == {"nan": None, "text": "ab\ufffd", "when": "2026-01-02 00:00:00", "x": 1}


@pytest.fixture
def long_numbers():
    """Python writes integers of any length, for the length of a test."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    yield
    sys.set_int_max_str_digits(limit)


@pytest.mark.usefixtures("long_numbers")
def test_an_end_that_the_server_refuses_buries_that_job_and_no_other(broker):
    @dramatiq.actor
    def poison():
        return 10**135_000  # a JSON number beyond what jsonb's numeric can hold

    @dramatiq.actor
    def healthy(n):
        return n

    poison.send()
    broker.enqueue_many(healthy.message(n) for n in range(20))
    with working(broker):
        until(lambda: statuses() == ["error"] + ["completed"] * 20)
    assert "could not be written" in rows("status = 'error'")[0].error_msg
