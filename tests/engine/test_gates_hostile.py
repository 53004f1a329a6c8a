"""Gates under fire: jobs that end in every way at once, services that answer by halves, and names that mean nothing."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import dramatiq
import pytest

from jobbko import store
from jobbko.engine import completion
from jobbko.engine import gates as engine_gates
from jobbko.errors import Charged, GateClosed, Throttled
from jobbko.store import gates
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are, failures, rows, statuses


def close(gate, reason="outage", seconds=None):
    store.rows(
        "select gate_close(%(gate)s, %(reason)s, %(seconds)s, null, 'x', null)",
        gate=gate,
        reason=reason,
        seconds=seconds,
    )


def time_is_up():
    store.run("update queue_state set resume_at = clock_timestamp() where closed and resume_at is not null")


def closed():
    return [(gate.gate, gate.reason) for gate in gates.listing()]


def suspects():
    return store.value("select cardinality(suspects) from queue_state where gate = 'llm'")


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


def test_a_success_inside_completion_begins_the_counting_of_500s_anew(broker):
    @dramatiq.actor(gates=("llm",), backoff=60)
    def ask(well):
        if not well:
            raise Charged("internal", "500", service="llm")
        with completion():
            pass

    with working(broker, threads=1):
        ask.send(False)
        until(lambda: suspects() == 1)
        ask.send(True)
        until(lambda: suspects() == 0)
    assert closed() == []


def test_an_outage_buries_nobody_when_an_equal_of_a_dead_suspect_waits_by_now(broker):
    @dramatiq.actor(gates=("llm",), dedupe=True, max_attempts=1)
    def ask(n):
        raise Charged("internal", f"500 for {n}", service="llm")

    with working(broker, threads=1):
        for n in (1, 2):
            ask.send(n)
            until(lambda n=n: statuses() == ["error"] * n)
        ask.send_with_options(args=(1,), delay=3_600_000)
        ask.send(3)
        until(lambda: closed() == [("llm", "outage")])
    found = [(row.payload["n"], row.status, row.attempts) for row in rows()]
    assert found == [(1, "error", 1), (2, "pending", 0), (1, "pending", 0), (3, "pending", 0)]


def test_the_list_of_attempts_agrees_with_what_the_suspects_got_back(broker):
    @dramatiq.actor(gates=("llm",), max_attempts=2)
    def ask(n):
        raise Charged("internal", "500", service="llm")

    broker.enqueue_many(ask.message(n) for n in range(3))
    with working(broker, threads=1):
        until(lambda: closed() == [("llm", "outage")])
    assert [(row.status, row.attempts) for row in rows()] == [("pending", 0)] * 3
    assert failures() == [(1, "refunded", "internal")] * 3
    assert all_are("pending")


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


def test_a_gate_that_somebody_has_opened_meanwhile_is_not_closed_by_a_job_that_found_it_closed(broker):
    asked, refused, go_on = [], threading.Event(), threading.Event()

    @dramatiq.actor(gates=("llm",))
    def ask():
        asked.append(1)
        if len(asked) > 1:
            return
        try:
            close("llm", "credit")
            engine_gates.permit("llm")
        except GateClosed:
            refused.set()
            go_on.wait(10)
            raise

    ask.send()
    with working(broker):
        assert refused.wait(5)
        gates.resume("llm", "kari")
        go_on.set()
        until(lambda: all_are("completed"))
    assert [event.event for event in reversed(gates.events("llm"))] == ["closed", "opened"]
    assert failures() == [(1, "refunded", "gate")]


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


NO_GATES = ["a+b", "all", "type:ask", "collection:abc", ""]


@pytest.mark.parametrize("name", NO_GATES)
def test_a_gate_that_cannot_have_its_name_is_refused_where_it_is_declared(broker, name):
    with pytest.raises(ValueError, match=r"work: .* cannot be the name of a gate"):

        @dramatiq.actor(gates=(name,))
        def work():
            pass


@pytest.mark.parametrize("name", NO_GATES)
@pytest.mark.parametrize("error", [Throttled, lambda name: GateClosed(name, "credit")], ids=["Throttled", "GateClosed"])
def test_a_failure_that_names_no_gate_is_charged_to_its_job_and_pauses_nobody(broker, name, error):
    @dramatiq.actor(max_attempts=1)
    def bad():
        raise error(name)

    @dramatiq.actor
    def good():
        pass

    bad.send()
    with working(broker):
        until(lambda: statuses() == ["error"])
        good.send()
        until(lambda: statuses() == ["error", "completed"])
    assert "cannot be the name of a gate" in rows()[0].error_msg
    assert gates.listing(all=True) == []
