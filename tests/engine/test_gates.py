"""Pause instead of fail: what closes a gate, what opens it, and who waits meanwhile."""

from __future__ import annotations

import threading
import uuid
from datetime import UTC, datetime, timedelta

import dramatiq
import pytest

from jobbko import store
from jobbko.engine import gates as engine_gates
from jobbko.errors import Charged, GateClosed, Throttled
from jobbko.store import gates
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are, failures, rows, statuses


def seconds_closed(gate):
    """From its closing to the time at which it opens or lets one job try."""
    (found,) = [each for each in gates.listing(all=True) if each.gate == gate]
    return (found.resume_at - found.since).total_seconds()


def time_is_up():
    store.run("update queue_state set resume_at = clock_timestamp() where closed and resume_at is not null")


def closed():
    return [(gate.gate, gate.reason) for gate in gates.listing()]


@pytest.fixture
def service(broker):
    """A service that answers what it is told to: an exception, or None for success. Each job asks it once."""

    class Service:
        answer: Exception | None = None
        asked: list[int] = []  # noqa: RUF012

    told = Service()
    told.asked = []

    @dramatiq.actor(gates=("llm",), max_attempts=5)
    def ask(n):
        told.asked.append(n)
        if told.answer is not None:
            raise told.answer

    @dramatiq.actor
    def local(n):
        told.asked.append(f"local {n}")

    told.ask, told.local = ask, local
    return told


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
