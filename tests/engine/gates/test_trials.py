"""When a closed gate's time is up, one job tries, and what becomes of it says whether the gate opens."""

from __future__ import annotations

import threading

import dramatiq
import pytest

from jobbko import store
from jobbko.engine import completion
from jobbko.engine import gates as engine_gates
from jobbko.errors import Charged, GateClosed, Throttled
from jobbko.store import gates
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are, rows, statuses
from tests.engine.gates.conftest import close, closed, seconds_closed, time_is_up


def test_when_its_time_is_up_one_job_tries_and_success_opens_the_gate(broker, service):
    service.answer = Throttled("llm")
    broker.enqueue_many(service.ask.message(n) for n in range(20))
    with working(broker, threads=4):
        until(lambda: closed() == [("llm", "outage")] and "running" not in statuses())
        before = len(service.asked)
        time_is_up()
        until(lambda: len(service.asked) == before + 1 and "running" not in statuses())
        assert seconds_closed("llm") > 60  # and not all four threads
        service.answer = None
        time_is_up()
        until(lambda: all_are("completed"))

    assert gates.listing() == []
    assert [row.attempts for row in rows()] == [0] * 20
    assert [event.event for event in reversed(gates.events("llm"))] == ["closed", "probe", "closed", "probe", "opened"]


def test_a_trial_that_fails_by_its_own_fault_leaves_the_next_one_to_try(broker, service):
    service.answer = Throttled("llm")
    service.ask.send(1)
    service.ask.send(2)
    with working(broker, threads=1):
        until(lambda: closed() == [("llm", "outage")] and "running" not in statuses())
        service.answer = Charged("content", "no such page")
        time_is_up()
        until(lambda: sorted(row.attempts for row in rows()) == [1, 1])
    assert closed() == [("llm", "outage")]


def test_a_service_that_is_away_for_long_makes_few_requests_and_one_event_for_each_trial(broker, service):
    # immich-app/immich#15134: 4,500 errors in half an hour; #2646, #5888: jobs "done" unprocessed.
    service.answer = Throttled("llm")
    broker.enqueue_many(service.ask.message(n) for n in range(500))
    with working(broker, threads=4):
        until(lambda: closed() == [("llm", "outage")] and "running" not in statuses())
        first = len(service.asked)
        for _ in range(3):
            asked = len(service.asked)
            time_is_up()
            until(lambda asked=asked: len(service.asked) > asked and "running" not in statuses())
    assert first <= 4
    assert len(service.asked) == first + 3
    assert [event.event for event in gates.events("llm")].count("closed") == 4
    assert all(row.status == "pending" for row in rows())


def test_with_nothing_to_do_nobody_is_asked(broker, service):
    # clusterzx/paperless-ai#781: a test prompt on a schedule. A trial is a job that waits, never a request of its own.
    gates.pause("other")
    store.rows("select gate_close('llm', 'outage', null, null, 'x', null)")
    with working(broker):
        time_is_up()
        service.local.send(1)
        until(lambda: service.asked == ["local 1"])
    assert closed() == [("llm", "outage"), ("other", "manual")]
    assert service.asked == ["local 1"]


@pytest.mark.parametrize("way", ["completion", "many followers"])
def test_a_trial_that_writes_its_own_end_opens_the_gate(broker, way):
    @dramatiq.actor(gates=("llm",))
    def ask():
        if way == "completion":
            with completion():
                pass

    @dramatiq.actor
    def after(n):
        pass

    if way == "many followers":

        @broker.follows(ask)
        def each(result):
            return [after.message(n) for n in range(1500)]

    ask.send()
    close("llm")
    time_is_up()
    with working(broker):
        until(lambda: rows("job_type = 'ask'")[0].status == "completed")
        until(lambda: closed() == [])


@pytest.mark.parametrize("error", [Charged("content", "its own fault"), Throttled("llm", retry_after=1)])
def test_while_one_job_tries_no_failure_of_an_older_one_lets_another_try(broker, error):
    go_on, trying, over = threading.Event(), [], threading.Event()

    @dramatiq.actor(gates=("llm",), backoff=60)
    def old():
        if not go_on.is_set():
            go_on.wait(10)
            raise error

    @dramatiq.actor(gates=("llm",))
    def new(n):
        trying.append(n)
        over.wait(10)

    old.send()
    with working(broker, threads=6):
        until(lambda: statuses() == ["running"])
        close("llm")
        broker.enqueue_many(new.message(n) for n in range(6))
        time_is_up()
        until(lambda: len(trying) == 1)
        go_on.set()
        until(lambda: rows()[0].status != "running")
        time_is_up()
        threading.Event().wait(0.6)
        assert len(trying) == 1
        over.set()
        until(lambda: closed() == [] and statuses().count("completed") >= 6)


def test_a_trial_that_takes_longer_than_its_minute_gets_no_company_until_its_lease_is_over(broker):
    trying, over = [], threading.Event()

    @dramatiq.actor(gates=("llm",))
    def ask(n):
        trying.append(n)
        over.wait(10)

    broker.enqueue_many(ask.message(n) for n in range(3))
    close("llm")
    time_is_up()
    with working(broker, threads=3):
        until(lambda: len(trying) == 1)
        time_is_up()
        threading.Event().wait(0.5)
        assert len(trying) == 1
        assert store.value("select gate_halfopen()") == []
        with store.transaction():
            store.run("update job_queue set lease_until = clock_timestamp() where state = 'consumed'")
            assert store.value("select gate_halfopen()") == ["llm"]
            store.run("update job_queue set lease_until = clock_timestamp() + interval '30 s' where state = 'consumed'")
        over.set()
        until(lambda: all_are("completed"))


def test_while_one_job_tries_no_other_may_send_its_request(broker):
    may, trying, over = {}, threading.Event(), threading.Event()

    def ask(name):
        try:
            engine_gates.permit("llm")
            may[name] = True
        except GateClosed:
            may[name] = False

    @dramatiq.actor(gates=("llm",))
    def trial():
        ask("trial")
        trying.set()
        over.wait(10)

    @dramatiq.actor
    def other():
        ask("other")

    trial.send()
    close("llm")
    time_is_up()
    with working(broker):
        assert trying.wait(5)
        other.send()
        until(lambda: "other" in may)
        over.set()
        until(lambda: all_are("completed"))
    assert may == {"trial": True, "other": False}
