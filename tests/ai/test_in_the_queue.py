"""A job that calls a model: pauses, goes on by itself, and is charged for nothing that is not its fault."""

from __future__ import annotations

import pytest

from broker import _caller
from jobbko import clients, store
from jobbko.ai import calls
from jobbko.ai.calls import complete, embed
from jobbko.ai.gateways import Gateway
from jobbko.ai.prompts import prompt
from jobbko.engine import PostgresBroker, completion, gates
from jobbko.errors import GateFoundClosed
from jobbko.store import ledger
from jobbko.store.gates import pause
from jobbko.testing.gateway import completion as said
from jobbko.testing.gateway import error, scripted_gateway
from jobbko.testing.worker import until, working
from tests.ai.conftest import configure, run, today


@pytest.fixture
def broker(database, monkeypatch):
    monkeypatch.setattr(clients, "permit", gates.permit)
    monkeypatch.setattr(calls, "caller", _caller)
    return PostgresBroker()


@pytest.fixture
def summarise(broker):
    import dramatiq

    @dramatiq.actor(broker=broker)
    def summarise(text):
        answer = complete(prompt("summary", "Summarise:\n$document", document=text))
        with completion() as done:
            done.result = answer.text

    return summarise


def closed():
    return store.rows("select gate, reason from queue_state where closed")


def test_a_server_that_dies_and_comes_back_loses_and_charges_nothing(broker, summarise, monkeypatch):
    monkeypatch.setattr(clients, "transport", None)
    with scripted_gateway() as first:
        configure(monkeypatch, Gateway("main", url=first.url, model="m", free=True))
        port = int(first.url.split(":")[2].split("/")[0])
    for n in range(5):
        summarise.send(f"text {n}")
    with working(broker):
        until(lambda: closed() == [("llm:main", "outage")])
        with scripted_gateway(port) as second:
            second.script = lambda asked: said("short")
            store.run("update queue_state set resume_at = clock_timestamp()")
            store.run("select pg_notify('jobbko', '')")
            until(lambda: store.value("select count(*) from job_queue where status = 'completed'") == 5)
    assert store.rows("select distinct attempts, result from job_queue") == [(0, "short")]
    assert closed() == []
    assert store.value("select count(*) from model_run where state = 'ok' and job_type = 'summarise'") == 5


@pytest.mark.parametrize("ask", [lambda: complete(prompt("say", "hello")), lambda: embed(["hello"])])
def test_a_call_that_finds_its_gate_closed_asks_nobody_and_reserves_nothing(gateway, broker, ask):
    pause("llm:main")
    with pytest.raises(GateFoundClosed):
        ask()
    assert gateway.asked == []
    assert run() == ("failed", "gate", None, None, None, 0, "provider")
    assert today() == (0, 0)
    assert ledger.spending(days=1) == []


def test_spent_money_holds_priced_calls_until_midnight_and_no_others(gateway, broker, summarise, budget):
    budget("0.0001")
    summarise.send("text")
    with working(broker):
        until(lambda: closed() == [("budget", "budget")])
        until(lambda: store.value("select status::text from job_queue") == "pending")
    assert gateway.asked == []
    assert store.value("select resume_at = (now() at time zone 'utc')::date::timestamp at time zone 'utc'"
                       " + interval '1 day' from queue_state where gate = 'budget'")  # fmt: skip
    assert store.rows("select attempts, gates from job_queue") == [(0, ["budget"])]


def test_three_plain_500s_of_three_jobs_are_an_outage_and_refunded(gateway, broker, summarise):
    gateway.script = lambda asked: error(500, "boom")
    for n in range(3):
        summarise.send(f"text {n}")
    with working(broker, threads=1):
        until(lambda: closed() == [("llm:main", "outage")])
    assert store.rows("select distinct attempts from job_queue") == [(0,)]
