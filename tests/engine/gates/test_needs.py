"""Which gates a job needs: those it declares, those it runs into, and what can be the name of one."""

from __future__ import annotations

import threading

import dramatiq
import pytest

from jobbko import store
from jobbko.engine import gates as engine_gates
from jobbko.errors import GateClosed, Throttled
from jobbko.store import gates
from jobbko.testing.worker import until, working
from tests.engine.conftest import rows, statuses
from tests.engine.gates.conftest import closed


def test_a_job_may_need_several_gates(broker):
    ran = []

    @dramatiq.actor(gates=("whisper", "llm"))
    def both():
        ran.append(1)

    gates.pause("llm")
    gates.pause("whisper")
    both.send()
    with working(broker):
        gates.resume("llm")
        threading.Event().wait(0.4)
        assert ran == []
        gates.resume("whisper")
        until(lambda: ran == [1])


def test_what_a_job_runs_into_it_needs_from_then_on(broker):
    asked = []

    @dramatiq.actor
    def cover(n):
        asked.append(n)
        if n == "remote":
            raise Throttled("coverart")

    cover.send("remote")
    with working(broker):
        until(lambda: closed() == [("coverart", "outage")])
        cover.send("local")
        until(lambda: "local" in asked)
    assert store.rows("select gates from job_queue order by seq") == [(["coverart"],), ([],)]


def test_a_request_is_not_even_sent_while_the_gate_is_closed(database):
    engine_gates.permit("coverart")
    gates.pause("coverart", note="x")
    with pytest.raises(GateClosed) as refused:
        engine_gates.permit("coverart")
    assert refused.value.reason == "manual"


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
