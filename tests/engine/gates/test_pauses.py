"""What a person pauses and resumes, and how people hear of a pause."""

from __future__ import annotations

import threading
import uuid
from datetime import UTC, datetime, timedelta

import dramatiq
import pytest

from jobbko import store
from jobbko.engine import gates as engine_gates
from jobbko.errors import GateClosed
from jobbko.store import gates
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are, failures
from tests.engine.gates.conftest import close


def test_a_persons_pause_is_not_lifted_by_success_or_replaced_by_an_outage(broker, service):
    gates.pause("llm", note="migrating", owner="kari")
    store.rows("select gate_close('llm', 'outage', null, null, 'x', null)")
    (found,) = gates.listing()
    assert (found.reason, found.resume_at, found.note, found.owner) == ("manual", None, "migrating", "kari")

    service.ask.send(1)
    service.local.send(1)
    with working(broker):
        until(lambda: service.asked == ["local 1"])
        assert gates.listing()[0].waiting == 1
        gates.resume("llm")
        until(lambda: all_are("completed"))


def test_a_pause_with_an_end_is_over_at_its_time(broker, service):
    gates.pause("llm", until=datetime.now(UTC) + timedelta(seconds=0.3))
    service.ask.send(1)
    with working(broker):
        until(lambda: all_are("completed"))
    assert [event.owner for event in gates.events("llm")] == ["clock", None]


@pytest.mark.parametrize("name", ["all", "type:ask", "collection"])
def test_a_job_type_a_collection_or_everything_can_be_paused(broker, service, name):
    # oban-bg/oban#841: a pause survives restarts and holds for workers that start later.
    collection = str(uuid.uuid4())
    store.run("insert into nodes (id, kind) values (%(id)s, 'collection')", id=collection)
    gates.pause(f"collection:{collection}" if name == "collection" else name)
    service.ask.send_with_options(args=(1,), collection=collection)
    service.local.send(1)
    with working(broker):
        if name == "all":
            service.local.send(2)
            threading.Event().wait(0.5)
            assert service.asked == []
        else:
            until(lambda: service.asked == ["local 1"])
    with working(broker):
        gates.resume(gates.listing()[0].gate)
        until(lambda: all_are("completed"))


def test_a_pause_is_announced_once_until_it_is_over_and_again_for_a_new_reason(database, monkeypatch):
    told, heard = [], threading.Event()
    monkeypatch.setattr(engine_gates, "announce", lambda line: (told.append(line), heard.set()))

    def close(reason):
        store.run("update queue_state set probing = true")
        store.rows("select gate_close('llm', %(reason)s, null, null, 'x', null)", reason=reason)
        heard.clear()
        engine_gates.announce_pauses()
        heard.wait(0.3)

    close("outage")
    close("outage")
    close("credit")
    assert [line.split(" (")[1].split(")")[0] for line in told] == ["outage", "credit"]
    gates.resume("llm")
    close("credit")
    assert len(told) == 3
    assert "needs somebody to resume it" in told[-1]


def test_an_announcement_that_fails_harms_nothing(database, monkeypatch, caplog):
    said = threading.Event()

    def broken(line):
        said.set()
        raise OSError("no route")

    monkeypatch.setattr(engine_gates, "announce", broken)
    store.rows("select gate_close('llm', 'outage', null, null, 'x', null)")
    engine_gates.announce_pauses()
    assert said.wait(5)
    until(lambda: "could not be announced" in caplog.text)
    assert gates.to_announce() == []


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
