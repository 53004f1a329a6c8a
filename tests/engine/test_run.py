"""A job from send to result."""

from __future__ import annotations

import threading
import uuid

import dramatiq
import psycopg2
import pytest
from dramatiq.results import ResultFailure

from jobbko import store
from jobbko.engine import report
from jobbko.engine.signature import PayloadRefused
from jobbko.store import queue
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are, rows, statuses


def test_a_sent_job_runs_and_keeps_its_result(broker):
    @dramatiq.actor
    def add(a, b=1):
        return a + b

    message = add.send(2, b=3)
    with working(broker):
        assert message.get_result(block=True) == 5

    (row,) = rows()
    assert (row.status, row.payload, row.attempts, row.priority) == ("completed", {"a": 2, "b": 3}, 0, 5)


def test_positional_arguments_get_their_names(broker):
    @dramatiq.actor
    def move(source, target, force=False):
        pass

    move.send("a", "b")

    assert rows()[0].payload == {"source": "a", "target": "b"}


def test_arguments_without_a_name_arrive_as_they_were_sent(broker):
    seen = []

    @dramatiq.actor
    def collect(first, /, *rest, **named):
        seen.append((first, rest, named))

    collect.send(1, 2, 3, colour="red")
    with working(broker):
        until(lambda: seen == [(1, (2, 3), {"colour": "red"})])


@pytest.mark.parametrize(
    ("args", "kwargs", "complaint"),
    [
        ((), {}, "needs path"),
        ((1, 2, 3), {}, "takes 2 arguments, not 3"),
        (("a",), {"path": "b"}, "two values for path"),
        (("a",), {"colour": "red"}, "no parameter colour"),
        ((object(),), {}, "path cannot be written as JSON"),
        (("x" * 70_000,), {}, "pass audio and other files by path"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_where_they_are_sent(broker, args, kwargs, complaint):
    @dramatiq.actor
    def scan(path, full=False):
        pass

    with pytest.raises(PayloadRefused, match=complaint):
        scan.send_with_options(args=args, kwargs=kwargs)
    assert rows() == []


def test_a_job_is_sent_with_the_transaction_around_it(broker):
    @dramatiq.actor
    def work():
        pass

    with pytest.raises(ZeroDivisionError), store.transaction():  # noqa: PT012
        work.send()
        assert len(rows()) == 1
        raise ZeroDivisionError
    assert rows() == []

    with store.transaction():
        work.send()
    assert len(rows()) == 1


def test_the_result_of_a_dead_job_is_its_failure(broker):
    @dramatiq.actor(max_attempts=1)
    def work():
        raise ValueError("no such thing")

    message = work.send()
    with working(broker), pytest.raises(ResultFailure, match="no such thing"):
        message.get_result(block=True)


def test_many_jobs_are_added_all_or_none(broker):
    @dramatiq.actor
    def work(n):
        pass

    assert broker.enqueue_many(work.message(n) for n in range(7000)) == 7000
    with pytest.raises(PayloadRefused):
        broker.enqueue_many([work.message(1), work.message()])
    assert store.value("select count(*) from job_queue") == 7000


def test_a_message_id_must_be_a_uuid(broker):
    @dramatiq.actor
    def work():
        pass

    with pytest.raises(ValueError, match="not a UUID"):
        broker.enqueue(dramatiq.Message("default", "work", (), {}, {}, message_id="mine"))


def test_an_equal_job_that_waits_is_enough(broker):
    @dramatiq.actor(dedupe=True)
    def work(n):
        pass

    first, second, other = work.send(1), work.send(1), work.send(2)

    assert second.message_id == first.message_id != other.message_id
    assert [row.payload for row in rows()] == [{"n": 1}, {"n": 2}]


def test_a_lone_job_never_takes_the_place_of_a_flow(broker):
    @dramatiq.actor(dedupe=True)
    def first(n):
        pass

    @dramatiq.actor
    def second(n):
        pass

    first.send(1)
    (first.message(1) | second.message()).run()
    (first.message(1) | second.message()).run()

    assert len(rows()) == 2


def test_a_job_belongs_to_the_collection_of_the_job_that_sends_it(broker):
    collection = str(uuid.uuid4())
    store.run("insert into nodes (id, kind) values (%(id)s, 'collection')", id=collection)

    @dramatiq.actor
    def child():
        pass

    @dramatiq.actor
    def parent():
        child.send()

    parent.send_with_options(collection=collection)
    with working(broker):
        until(lambda: statuses() == ["completed", "completed"])

    assert store.rows("select distinct collection_node_id::text from job_queue") == [(collection,)]


def test_deleting_a_collection_deletes_its_jobs_and_stops_the_one_that_runs(broker, monkeypatch):
    monkeypatch.setattr("jobbko.settings.LEASE", 0.6)
    collection = str(uuid.uuid4())
    store.run("insert into nodes (id, kind) values (%(id)s, 'collection')", id=collection)
    started, stopped = threading.Event(), threading.Event()

    @dramatiq.actor
    def endless():
        started.set()
        try:
            while True:
                threading.Event().wait(0.01)
        finally:
            stopped.set()

    endless.send_with_options(collection=collection)
    with working(broker):
        assert started.wait(5)
        store.run("delete from nodes where id = %(id)s", id=collection)
        assert stopped.wait(5)
    assert rows() == []


def test_a_slow_queue_does_not_stop_another(broker):
    # goauthentik/authentik#17106
    free, done = threading.Event(), []

    @dramatiq.actor(queue_name="slow")
    def slow():
        free.wait(10)

    @dramatiq.actor(queue_name="quick", priority=7)
    def quick():
        done.append(1)

    broker.enqueue_many(slow.message() for _ in range(50))
    with working(broker, threads=2):
        until(lambda: statuses().count("running") == 2)
        free.set()
        quick.send()
        until(lambda: done == [1])
    assert all_are("completed", "pending")


def test_two_schedulers_send_a_tick_once(broker):
    @dramatiq.actor
    def nightly():
        pass

    nightly.send_with_options(scheduled_at="2026-11-30T02:23:00+00:00")
    nightly.send_with_options(scheduled_at="2026-11-30T03:23:01+01:00")
    nightly.send_with_options(scheduled_at="2026-12-01T02:23:00+00:00")
    assert len(rows()) == 2


def test_progress_is_written_now_and_then_and_at_the_end(broker):
    at, go_on = [], threading.Event()

    @dramatiq.actor
    def work():
        for n in range(1, 101):
            report(done=n, total=100, note="tags")
        at.append(store.value("select progress from job_queue"))
        go_on.wait(5)

    writes = []
    with working(broker), pytest.MonkeyPatch.context() as patch:
        real = queue.set_progress
        patch.setattr(queue, "set_progress", lambda *args: (writes.append(args[2]["done"]), real(*args)))
        work.send()
        until(lambda: at == [{"done": 100, "total": 100, "note": "tags"}])
        go_on.set()
        until(lambda: statuses() == ["completed"])
    assert writes[0] == 1
    assert writes[-1] == 100
    assert len(writes) < 10
    assert store.value("select progress from job_queue") is None


def test_who_wants_to_hear_what_becomes_of_a_job_hears_it(broker, database):
    @dramatiq.actor(max_attempts=1)
    def work(n):
        if n == 2:
            raise ValueError

    listener = psycopg2.connect(database)
    listener.autocommit = True
    listener.cursor().execute("listen jobbko_events")
    work.send(3)
    with working(broker, threads=1):
        until(lambda: statuses() == ["completed"])
        listener.cursor().execute("select 1")
        assert listener.notifies == []  # it did not ask to be told of
        for n in (1, 2):
            work.send_with_options(args=(n,), tell=True)
        until(lambda: sorted(statuses()) == ["completed", "completed", "error"])
    listener.cursor().execute("select 1")
    heard = [(note.channel, note.payload) for note in listener.notifies]
    listener.close()
    # One for each transaction that changed the status of one of the two: both claims, both ends, some of them together.
    assert set(heard) == {("jobbko_events", "")}
    assert 2 <= len(heard) <= 4
