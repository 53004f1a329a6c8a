"""What becomes of a job that failed."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import dramatiq
import psycopg2
import pytest
from dramatiq.middleware import Retries as DramatiqRetries

from jobbko import settings, store
from jobbko.engine import PostgresBroker, attempt
from jobbko.engine.retries import backoff
from jobbko.errors import Charged, GateClosed, Missing, Permanent, Throttled
from jobbko.testing.worker import until, working
from tests.engine.conftest import failures, rows, statuses


def waits() -> list[float]:
    """Seconds from the end of each failed attempt to the time for which the next one was scheduled."""
    return [
        round(float(seconds), 2)
        for (seconds,) in store.rows(
            "select extract(epoch from scheduled_for - mtime) from job_queue where attempts > 0"
        )
    ]


def test_waits_double_from_thirty_seconds():
    # The card and the seed: 30 s × 2^(n−1).
    assert [backoff(n, {}) for n in (1, 2, 3, 4)] == [30, 60, 120, 240]


def test_the_fifth_failure_is_dead(broker, monkeypatch):
    monkeypatch.setattr(settings, "BACKOFF", 0.02)

    @dramatiq.actor
    def work():
        raise ValueError("broken")

    work.send()
    with working(broker):
        until(lambda: statuses() == ["error"])

    (row,) = rows("status = 'error'")
    assert (row.attempts, row.max_attempts, row.error_msg) == (5, 5, "ValueError: broken")
    assert failures() == [(n, "retry", "internal") for n in (1, 2, 3, 4)] + [(5, "dead", "internal")]
    traces = store.rows("select traceback from job_attempt")
    assert len(traces) == 5
    assert all('raise ValueError("broken")' in trace for (trace,) in traces)


def test_after_a_failure_the_job_waits_its_backoff_in_the_table(broker):
    @dramatiq.actor
    def work():
        raise ValueError

    work.send()
    with working(broker):
        until(lambda: statuses() == ["retry"])

    assert waits() == [pytest.approx(30, abs=0.5)]
    assert store.value("select due from job_queue") is False


@pytest.mark.parametrize(
    ("error", "status", "attempts", "outcome"),
    [
        (Missing("gone"), "completed", 0, []),
        (Permanent("unusable"), "error", 1, [(1, "dead", "permanent")]),
        (Charged("invalid", "not what was asked for"), "retry", 1, [(1, "retry", "invalid")]),
        (Throttled("coverart", 7), "pending", 0, [(1, "refunded", "throttled")]),
        (
            GateClosed("llm", "credit", datetime.now(UTC) + timedelta(hours=1)),
            "pending",
            0,
            [(1, "refunded", "gate")],
        ),
        # Not ours: a wrong password to some other database is the job's own affair.
        (psycopg2.OperationalError("authentication failed"), "retry", 1, [(1, "retry", "internal")]),
        (dramatiq.errors.Retry(delay=9000), "retry", 1, [(1, "retry", "internal")]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_the_class_of_the_error_says_what_happens(broker, error, status, attempts, outcome):
    @dramatiq.actor
    def work():
        raise error

    work.send()
    with working(broker):
        until(lambda: statuses() == [status] and (status != "pending" or failures()))

    assert rows()[0].attempts == attempts
    assert failures() == outcome


@pytest.mark.parametrize(("kind", "wait"), [("invalid", 0), ("timeout", 600), ("image", 30)])
def test_an_actor_may_wait_differently_after_different_failures(broker, kind, wait):
    # The notebook's: invalid at once, others after ten minutes.
    tries = []

    @dramatiq.actor(max_attempts=3, delays={"invalid": 0, "timeout": 600})
    def work():
        tries.append(1)
        raise Charged(kind, "no")

    work.send()
    with working(broker):
        until(lambda: statuses() == (["error"] if kind == "invalid" else ["retry"]))
    assert len(tries) == (3 if kind == "invalid" else 1)
    if kind != "invalid":
        assert waits() == [pytest.approx(wait, abs=0.5)]


def test_a_kind_of_failure_may_be_dead_at_once(broker):
    @dramatiq.actor(delays={"content": None})
    def work():
        raise Charged("content", "refused")

    work.send()
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert failures() == [(1, "dead", "content")]


def test_an_actor_may_have_its_own_attempts_and_backoff(broker):
    @dramatiq.actor(max_attempts=3, backoff=0.01)
    def work():
        raise ValueError

    work.send()
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert rows()[0].attempts == 3


def test_dramatiqs_max_retries_does_not_count_the_first_attempt(broker):
    @dramatiq.actor(max_retries=1, min_backoff=10)
    def work():
        raise ValueError

    work.send()
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert rows()[0].attempts == 2


def test_what_an_actor_throws_on_purpose_is_dead_at_once(broker):
    @dramatiq.actor(throws=KeyError)
    def work():
        raise KeyError("x")

    work.send()
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert rows()[0].attempts == 1


def test_dramatiqs_own_retries_work_and_the_row_counts(database):
    own = PostgresBroker(middleware=[DramatiqRetries(max_retries=50, min_backoff=10, max_backoff=20)])

    @dramatiq.actor(broker=own, max_retries=50)
    def work():
        raise ValueError

    work.send_with_options(max_attempts=4)
    with working(own):
        until(lambda: statuses() == ["error"])
    assert rows()[0].attempts == 4


def test_a_job_over_its_time_limit_is_interrupted_and_charged(broker):
    @dramatiq.actor(time_limit=200, max_attempts=1)
    def work():
        while True:
            threading.Event().wait(0.01)

    work.send()
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert failures() == [(1, "dead", "timeout")]


def test_a_job_past_its_age_limit_is_cancelled_not_dead(broker):
    @dramatiq.actor(max_age=1)
    def work():
        pass

    work.send_with_options(delay=50)
    with working(broker):
        until(lambda: statuses() == ["cancelled"])
    assert rows()[0].error_msg.startswith("expired")


def test_a_retry_merges_into_an_equal_job_that_waits_already(broker):
    # procrastinate-org/procrastinate#1432, #1446, #1543
    started, go_on = threading.Event(), threading.Event()

    @dramatiq.actor(dedupe=True, queue_name="one")
    def work(n):
        started.set()
        go_on.wait(5)
        raise ValueError

    work.send(1)
    with working(broker, threads=1):
        started.wait(5)
        work.send(1)
        go_on.set()
        until(lambda: "cancelled" in statuses())
    first, second = rows()
    assert first.status == "cancelled"
    assert first.error_msg == "an equal job was already waiting"
    assert second.status in ("running", "retry", "pending")


def test_a_requeued_job_is_as_new_and_keeps_its_payload(broker):
    # goauthentik/authentik#21420: requeue never changes the payload.
    fail = [True]

    @dramatiq.actor(max_attempts=1)
    def work(n):
        if fail[0]:
            raise ValueError

    message = work.send(7)
    with working(broker):
        until(lambda: statuses() == ["error"])
        fail[0] = False
        assert store.value("select retry_job(%(id)s)", id=message.message_id) is True
        until(lambda: statuses() == ["completed"])
    assert (rows()[0].payload, rows()[0].attempts) == ({"n": 7}, 0)


def test_a_job_knows_which_attempt_it_is_and_whether_it_is_the_last(broker):
    # Bogdanp/dramatiq#425, #517
    said = []

    @dramatiq.actor(max_attempts=3, backoff=0.01)
    def work():
        said.append((attempt().number, attempt().is_last))
        raise ValueError

    work.send()
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert said == [(1, False), (2, False), (3, True)]


def test_max_retries_of_one_message_mean_what_they_mean_in_dramatiq(broker):
    @dramatiq.actor(backoff=0.01)
    def work():
        raise ValueError

    work.send_with_options(max_retries=0)
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert rows()[0].attempts == 1
