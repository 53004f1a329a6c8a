"""The day's money: never more than the limit, whoever asks at once, and whoever dies while asking."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from jobbko import store
from jobbko.ai import calls
from jobbko.ai.calls import Caller, complete
from jobbko.ai.gateways import Gateway
from jobbko.ai.prompts import prompt
from jobbko.errors import GateClosed
from jobbko.store import ledger
from jobbko.store.ledger import Call
from jobbko.testing.gateway import Said, completion
from tests.ai.conftest import configure, run, today

pytestmark = pytest.mark.usefixtures("database")
SAY = prompt("say", "hello")
CENT = {"m": {"call": 0.01}}


@pytest.fixture
def cent(gateway, monkeypatch):
    """Each call costs a cent, whatever is said."""
    configure(monkeypatch, Gateway("main", url=gateway.url, key="GATEWAY_KEY", model="m"), prices=CENT)
    return gateway


def events():
    return store.rows("select gate, note from queue_event where event = 'spent' order by id")


def test_a_hundred_calls_of_a_cent_are_a_dollar_whoever_asks_at_once(cent, budget):
    budget("1.00")
    with ThreadPoolExecutor(8) as threads:
        ended = list(threads.map(lambda _: attempt(), range(130)))
    assert (ended.count("answered"), ended.count("budget")) == (100, 30)
    assert len(cent.asked) == 100
    assert today() == (0, 1.0)
    assert events() == [("budget", "50 % of $1.00"), ("budget", "80 % of $1.00"), ("budget", "100 % of $1.00")]


def attempt():
    try:
        complete(SAY)
    except GateClosed as error:
        return error.gate
    return "answered"


@pytest.mark.parametrize(("dollars", "calls"), [("0", 0), ("0.01", 1), ("0.019", 1), ("0.02", 2)])
def test_nothing_is_asked_beyond_the_limit_and_nothing_at_all_at_zero(cent, budget, dollars, calls):
    budget(dollars)
    assert [attempt() for _ in range(3)].count("answered") == calls
    assert len(cent.asked) == calls


def test_free_models_are_asked_although_the_money_is_spent(gateway, monkeypatch, budget):
    budget("0")
    configure(monkeypatch, Gateway("main", url=gateway.url, model="m", free=True), prices={})
    assert attempt() == "answered"
    assert run()[-2:] == (0, "free")


def test_a_collection_may_have_a_limit_of_its_own_that_holds_nobody_else(cent, monkeypatch):
    hers, his = str(uuid.uuid4()), str(uuid.uuid4())
    for id, metadata in ((hers, '{"budget_day_usd": 0.01}'), (his, "{}")):
        store.run("insert into nodes (id, kind, metadata) values (%(id)s, 'collection', %(m)s)", id=id, m=metadata)
    ended = []
    for owner in (hers, hers, his, his):
        monkeypatch.setattr(calls, "caller", lambda owner=owner: Caller(collection=owner))
        ended.append(attempt())
    assert ended == ["answered", f"budget:{hers}", "answered", "answered"]
    store.run("delete from nodes where id = %(id)s", id=hers)
    assert today() == (0, pytest.approx(0.03))  # her money stays spent


def call(dollars, job=None):
    return Call(str(uuid.uuid4()), calls.DEFAULT_COLLECTION, job, "work", 1, "main", "gateway", "complete", "m", "", {},
                Decimal(dollars))  # fmt: skip


def test_a_call_whose_worker_died_stays_spent_as_its_estimate(tx):
    store.run("insert into job_type (name) values ('work')")
    job = store.value("insert into job_queue (job_type) values ('work') returning id::text")
    with store.transaction():
        assert reserved(call("0.25", job)) is None
    assert today() == (0.25, 0)
    assert ledger.lose(longest=3600, lease=0) == 1
    assert run()[0] == "unknown"
    assert today() == (0, 0.25)


def test_a_call_whose_job_still_runs_is_not_given_up(tx):
    store.run("insert into job_type (name) values ('work')")
    job = store.value("insert into job_queue (job_type) values ('work') returning id::text")
    store.run("update job_queue set state = 'consumed', lease_token = gen_random_uuid(), started_at = now()")
    reserved(call("0.25", job))
    assert ledger.lose(longest=3600, lease=0) == 0
    # Run again meanwhile: that is another attempt, and the first one's call is lost.
    store.run("update job_queue set started_at = clock_timestamp() + interval '1 second'")
    assert ledger.lose(longest=3600, lease=0) == 1


def reserved(call):
    """In the test's own transaction, which `ledger.reserve` would stay out of."""
    run = {name: getattr(call, name) for name in call.__slots__} | {"reserved_usd": str(call.reserved_usd)}
    return store.value(ledger.sql["reserve"], run=ledger.Jsonb(run), all_limit=None, collection_limit=None)


def test_an_answer_without_figures_costs_what_it_may_have_cost(gateway):
    gateway.script = lambda asked: Said({**completion("hi").body, "usage": None})
    complete(SAY, max_tokens=1000)
    state, _, _, _, _, cost, source = run()
    assert (state, source) == ("ok", "estimate")
    assert cost >= 1000 * 10 / 1_000_000  # a thousand tokens of output at ten dollars for a million


def test_the_ledger_and_the_providers_own_account_agree(gateway, monkeypatch):
    configure(monkeypatch, Gateway("main", url=gateway.url, key="GATEWAY_KEY", provider="openrouter", model="m"))
    prices = iter([0.0123, 0.00004, 0.5])
    gateway.script = lambda asked: completion("hi", cost=next(prices))
    for _ in range(3):
        complete(SAY)
    account = sum(said.body["usage"]["cost"] for said in gateway.said)
    assert store.value("select sum(cost_usd)::float8 from model_run") == pytest.approx(account, abs=1e-8)
    assert today() == (0, pytest.approx(account, abs=1e-8))
