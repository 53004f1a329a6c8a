"""A job that writes its own end, with what it has done, in one transaction."""

from __future__ import annotations

import threading

import dramatiq

from jobbko import settings, store
from jobbko.engine import completion
from jobbko.testing.worker import until, working
from tests.engine.conftest import failures, rows, statuses


def test_completion_commits_the_jobs_writes_its_end_and_what_follows_together(broker):
    store.run("create table written (n integer)")
    inside, go_on = threading.Event(), threading.Event()

    @dramatiq.actor
    def first():
        with completion() as done:
            store.run("insert into written values (1)")
            done.result = 7
            inside.set()
            go_on.wait(5)

    @dramatiq.actor
    def second(n):
        with completion():
            store.run("insert into written values (%(n)s)", n=n)

    (first.message() | second.message()).run()
    with working(broker):
        assert inside.wait(5)
        assert store.value("select count(*) from written") == 0
        assert statuses() == ["running"]
        go_on.set()
        until(lambda: statuses() == ["completed", "completed"])
    assert store.rows("select n from written order by n") == [(1,), (7,)]
    assert rows()[0].result == 7


def test_completion_that_fails_writes_nothing_and_charges_once(broker):
    store.run("create table written (n integer)")

    @dramatiq.actor(max_attempts=1)
    def work():
        with completion():
            store.run("insert into written values (1)")
            raise ValueError("half way")

    work.send()
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert store.value("select count(*) from written") == 0
    assert failures() == [(1, "dead", "internal")]


def test_completion_that_lasts_longer_than_the_lease_keeps_it(broker, monkeypatch):
    monkeypatch.setattr(settings, "LEASE", 0.3)
    ran = []

    @dramatiq.actor
    def work():
        with completion():
            ran.append(1)
            threading.Event().wait(1)

    @dramatiq.actor
    def neighbour():
        threading.Event().wait(1)
        ran.append(2)

    work.send()
    neighbour.send()
    with working(broker, threads=2):
        until(lambda: statuses() == ["completed", "completed"])
    assert sorted(ran) == [1, 2]


def test_completion_cannot_be_nested_or_inside_another_transaction_or_thread(broker):
    said = []

    def attempt(action):
        try:
            action()
        except RuntimeError as error:
            said.append(str(error))

    def nested():
        with completion(), completion():
            pass

    def inside():
        with store.transaction(), completion():
            pass

    def plain():
        with completion():
            pass

    @dramatiq.actor
    def work():
        attempt(nested)
        attempt(inside)
        other = threading.Thread(target=attempt, args=(plain,))
        other.start()
        other.join()
        plain()

    work.send()
    with working(broker):
        until(lambda: statuses() == ["completed"])
    assert [text.split(" ")[1:3] for text in said] == [["is", "the"], ["is", "the"], ["works", "in"]]


def test_what_a_middleware_sends_after_completion_is_sent(broker):
    done = []

    @dramatiq.actor
    def after(message, result):
        done.append(message["actor_name"])

    @dramatiq.actor
    def work():
        with completion():
            pass

    work.send_with_options(on_success=after)
    with working(broker):
        until(lambda: done == ["work"])


def test_a_job_that_has_just_completed_itself_is_not_taken_for_a_lost_one(broker, monkeypatch):
    monkeypatch.setattr(settings, "LEASE", 0.3)
    after = []

    @dramatiq.actor
    def work(n):
        with completion():
            pass
        threading.Event().wait(0.3)
        after.append(n)

    broker.enqueue_many(work.message(n) for n in range(12))
    with working(broker, threads=4):
        until(lambda: len(after) == 12)
