"""Failures that do not say whose fault they are: three in a row from three jobs are the service's."""

from __future__ import annotations

import dramatiq

from jobbko import store
from jobbko.engine import completion
from jobbko.errors import Charged
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are, failures, rows, statuses
from tests.engine.gates.conftest import closed


def suspects():
    return store.value("select cardinality(suspects) from queue_state where gate = 'llm'")


def test_three_plain_500s_in_a_row_from_three_jobs_are_an_outage_and_refunded(broker, service):
    service.answer = Charged("internal", "500", service="llm")
    service.ask.send(1)
    with working(broker, threads=1):
        until(lambda: rows()[0].attempts == 1)
        assert closed() == []
        service.ask.send(2)
        until(lambda: [row.attempts for row in rows()] == [1, 1])
        service.ask.send(3)
        until(lambda: closed() == [("llm", "outage")])
        until(lambda: [(row.status, row.attempts) for row in rows()] == [("pending", 0)] * 3)


def test_500s_with_a_success_between_them_are_the_jobs_own(broker, service):
    with working(broker, threads=1):
        for n in range(4):
            service.answer = Charged("internal", "500", service="llm")
            service.ask.send(n)
            until(lambda n=n: [row.attempts for row in rows("payload->>'n' = %(n)s", n=str(n))] == [1])
            service.answer = None
            service.ask.send(f"well {n}")
            until(lambda n=n: rows("payload->>'n' = %(n)s", n=f"well {n}")[0].status == "completed")
    assert closed() == []


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
