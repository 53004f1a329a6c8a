"""Pause instead of fail: what closes a gate, for how long, and who waits meanwhile."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import dramatiq
import pytest

from jobbko import store
from jobbko.errors import Charged, GateClosed, Throttled
from jobbko.store import gates
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are, failures, rows, statuses
from tests.engine.gates.conftest import close, closed, seconds_closed, time_is_up


def test_an_outage_closes_the_gate_refunds_the_job_and_lets_the_others_go_on(broker, service):
    service.answer = Throttled("llm")
    service.ask.send(1)
    with working(broker, threads=1):
        until(lambda: closed() == [("llm", "outage")])
        for n in (2, 3, 4):
            service.ask.send(n)
        service.local.send(1)
        until(lambda: "local 1" in service.asked)

    assert service.asked == [1, "local 1"]
    assert [row.attempts for row in rows()] == [0] * 5
    assert failures() == [(1, "refunded", "throttled")]
    assert seconds_closed("llm") == pytest.approx(60, abs=1)


@pytest.mark.usefixtures("tx")
def test_the_wait_doubles_from_a_minute_to_an_hour():
    waits = []
    for _ in range(8):
        store.run("update queue_state set probing = true")  # a trial, that fails
        store.rows("select gate_close('llm', 'outage', null, null, 'unreachable', null)")
        waits.append(store.value("select extract(epoch from resume_at - clock_timestamp()) from queue_state"))
    assert [round(float(wait)) for wait in waits] == [60, 120, 240, 480, 960, 1920, 3600, 3600]


@pytest.mark.usefixtures("tx")
@pytest.mark.parametrize(("asked", "waits"), [(7, 7), (0, 1), (86_400, 3600)])
def test_retry_after_is_heeded_between_a_second_and_an_hour_and_does_not_count(asked, waits):
    store.rows("select gate_close('musicbrainz', 'outage', %(asked)s, null, '503', null)", asked=asked)
    found = store.rows("select extract(epoch from resume_at - clock_timestamp()), streak from queue_state")
    assert found == [(pytest.approx(waits, abs=0.1), 0)]


@pytest.mark.usefixtures("tx")
def test_a_spent_budget_opens_at_midnight_utc_without_a_trial():
    store.rows("select gate_close('llm', 'budget', null, null, 'spent', null)")
    found = store.value("select resume_at from queue_state")
    tomorrow = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    assert found == tomorrow

    time_is_up()
    store.rows("select gate_times_up()")
    assert gates.listing() == []


@pytest.mark.parametrize("reason", ["credit", "auth"])
def test_credit_and_keys_wait_for_a_person(broker, service, reason):
    service.answer = GateClosed("llm", reason)
    service.ask.send(1)
    with working(broker):
        until(lambda: closed() == [("llm", reason)])
        assert gates.listing()[0].resume_at is None
        service.answer = None
        assert gates.resume("llm") is True
        until(lambda: all_are("completed"))
    assert rows()[0].attempts == 0


@pytest.mark.parametrize("reason", ["credit", "auth"])
def test_an_outage_does_not_take_the_place_of_what_waits_for_a_person(broker, reason):
    # It would open by itself, and the next job would pay or be refused again.
    go = threading.Event()

    @dramatiq.actor(gates=("llm",))
    def slow():
        go.wait(5)
        raise Throttled("llm", 1)

    slow.send()
    with working(broker):
        until(lambda: all_are("running"))
        store.value("select gate_close('llm', %(why)s, null, null, 'no', null)", why=reason)
        go.set()
        until(lambda: all_are("pending"))
        assert closed() == [("llm", reason)]
        assert gates.listing()[0].resume_at is None


def test_a_job_that_was_claimed_after_the_closing_opens_an_outage_and_one_that_was_under_way_opens_nothing(
    broker, service
):
    # Claimed after it: by a worker that did not know of it yet. The service has answered since.
    go_on = threading.Event()

    @dramatiq.actor(gates=("llm",))
    def slow():
        go_on.wait(10)

    for reason, after, stays in (("outage", True, False), ("credit", True, True), ("outage", False, True)):
        gates.resume("llm")
        go_on.clear()
        slow.send()
        with working(broker):
            until(lambda: "running" in statuses())
            store.rows("select gate_close('llm', %(reason)s, null, null, 'x', null)", reason=reason)
            if after:
                store.run("update queue_state set since = since - interval '1 minute'")
            go_on.set()
            until(lambda: all_are("completed"))
        assert bool(gates.listing()) == stays


def test_a_refund_neither_adds_to_the_failures_that_counted_nor_forgets_them(broker, service):
    # karakeep-app/karakeep#2303
    service.answer = Charged("content", "no")
    service.ask.send(1)
    with working(broker):
        until(lambda: rows()[0].attempts == 1)
        service.answer = Throttled("llm")
        store.run("select run_job_now(id) from job_queue")
        until(lambda: closed() == [("llm", "outage")] and "running" not in statuses())
    assert rows()[0].attempts == 1
    assert rows()[0].status == "retry"


def test_out_of_credit_marks_nothing_as_done(broker, service):
    # clusterzx/paperless-ai#818
    service.answer = GateClosed("llm", "credit")
    broker.enqueue_many(service.ask.message(n) for n in range(5))
    with working(broker, threads=1):
        until(lambda: closed() == [("llm", "credit")] and "running" not in statuses())
    assert statuses() == ["pending"] * 5
    assert all(row.result is None for row in rows())


def test_an_image_that_is_too_large_is_charged_and_dies(broker, service):
    # anthropics/claude-code#10138: retried for ever as an outage.
    service.answer = Charged("image", "5,400,000 bytes are more than the service takes")
    service.ask.send_with_options(args=(1,), max_attempts=1)
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert closed() == []
    assert failures() == [(1, "dead", "image")]


def test_a_service_that_asks_half_of_the_requests_for_patience_gets_it(broker):
    asked, answering = [], threading.Lock()

    @dramatiq.actor(gates=("llm",))
    def ask(n):
        with answering:
            asked.append(n)
            refuse = len(asked) % 2 == 0
        threading.Event().wait(0.03)
        if refuse:
            raise Throttled("llm", retry_after=30)

    broker.enqueue_many(ask.message(n) for n in range(200))
    with working(broker, threads=8):
        until(lambda: closed() == [("llm", "outage")] and "running" not in statuses())
        threading.Event().wait(1)
        events = [event.event for event in gates.events("llm")]
    assert events == ["closed"]
    assert len(asked) <= 16  # what was under way, and what one turn may have claimed just before


def test_a_job_that_finds_out_itself_closes_the_gate_again_though_it_was_opened_meanwhile(broker):
    asking, go_on = threading.Event(), threading.Event()

    @dramatiq.actor(gates=("llm",))
    def ask():
        asking.set()
        go_on.wait(10)
        raise GateClosed("llm", "credit")

    ask.send()
    with working(broker):
        assert asking.wait(5)
        close("llm", "credit")
        gates.resume("llm")
        go_on.set()
        until(lambda: closed() == [("llm", "credit")])


@pytest.mark.parametrize(
    "error", [GateClosed("llm", "manual"), GateClosed("llm", "outage", datetime(2020, 1, 1, tzinfo=UTC))]
)
def test_a_refund_that_nothing_holds_up_does_not_run_round_and_round(broker, error):
    ran = []

    @dramatiq.actor
    def work():
        ran.append(1)
        raise error

    work.send()
    with working(broker):
        until(lambda: len(ran) == 1)
        threading.Event().wait(1.5)
        assert len(ran) <= 2
        until(lambda: len(ran) >= 2)
