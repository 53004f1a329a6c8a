"""Pipelines, groups, and what follows a job that was started alone."""

from __future__ import annotations

import threading
import uuid

import dramatiq
import pytest
from dramatiq import group, pipeline

from jobbko import settings, store
from jobbko.engine import completion
from jobbko.errors import Permanent
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are, failures, rows, statuses


def test_a_pipeline_hands_each_result_to_the_next_step(broker):
    seen = []

    @dramatiq.actor
    def double(n):
        return n * 2

    @dramatiq.actor
    def keep(n):
        seen.append(n)

    (double.message(3) | double.message() | keep.message()).run()
    with working(broker):
        until(lambda: seen == [12])

    assert [(row.job_type, row.step) for row in rows()] == [("double", 1), ("double", 2), ("keep", 3)]
    assert len({row.flow_id for row in rows()}) == 1


def test_a_later_step_has_no_row_until_it_is_due(broker):
    @dramatiq.actor
    def first():
        pass

    (first.message() | first.message_with_options(pipe_ignore=True)).run()

    assert len(rows()) == 1


def test_a_step_may_ignore_the_result_before_it(broker):
    seen = []

    @dramatiq.actor
    def first():
        return "unwanted"

    @dramatiq.actor
    def second(n):
        seen.append(n)

    pipeline([first.message(), second.message_with_options(args=(5,), pipe_ignore=True)]).run()
    with working(broker):
        until(lambda: seen == [5])


def test_a_dead_step_keeps_its_flow_and_goes_on_when_it_is_requeued(broker):
    seen, broken = [], [True]

    @dramatiq.actor
    def first(n):
        if broken[0]:
            raise Permanent("unreadable")
        return n

    @dramatiq.actor
    def second(n):
        seen.append(n)

    message = first.message(4)
    (message | second.message()).run()
    with working(broker):
        until(lambda: statuses() == ["error"])
        broken[0] = False
        store.run("select retry_job(%(id)s)", id=message.message_id)
        until(lambda: seen == [4])


def test_a_result_that_cannot_be_passed_on_fails_the_step_and_loses_nothing(broker):
    @dramatiq.actor(max_attempts=1)
    def first():
        return uuid.uuid4()

    @dramatiq.actor
    def second(n):
        pass

    (first.message() | second.message()).run()
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert "cannot be written as JSON" in rows()[0].error_msg


def test_a_group_runs_all_its_members(broker):
    seen = []

    @dramatiq.actor
    def work(n):
        seen.append(n)

    group([work.message(n) for n in range(5)]).run()
    with working(broker):
        until(lambda: sorted(seen) == [0, 1, 2, 3, 4])


def test_a_rule_says_what_follows_a_job_that_was_started_alone(broker):
    seen = []

    @dramatiq.actor
    def scan(n):
        return list(range(n))

    @dramatiq.actor
    def analyse(n):
        return n

    @dramatiq.actor
    def paint(n):
        seen.append(n)

    @broker.follows(scan)
    def each(found):
        for n in found:
            yield analyse.message(n) | paint.message()

    scan.send(3)
    with working(broker):
        until(lambda: sorted(seen) == [0, 1, 2])
    assert len({row.flow_id for row in rows()}) == 1


def test_a_job_inside_an_explicit_flow_follows_that_flow_only(broker):
    seen = []

    @dramatiq.actor
    def first():
        pass

    @dramatiq.actor
    def second():
        pass

    @dramatiq.actor
    def extra(of):
        seen.append(of)

    broker.follows(first)(lambda result: [extra.message("first")])
    broker.follows(second)(lambda result: [extra.message("second")])

    pipeline([first.message(), second.message_with_options(pipe_ignore=True)]).run()
    with working(broker):
        until(lambda: len(rows()) == 2 and all_are("completed"))
        second.send()
        until(lambda: seen == ["second"])


def test_a_rule_that_fails_fails_its_job(broker):
    @dramatiq.actor(max_attempts=1)
    def scan():
        pass

    @broker.follows(scan)
    def each(found):
        raise LookupError("rule")

    scan.send()
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert rows()[0].error_msg == "LookupError: rule"


@pytest.mark.parametrize("breaks_at", [None, 1500])
def test_thousands_of_followers_come_with_their_job_or_not_at_all(broker, breaks_at):
    @dramatiq.actor(max_attempts=1)
    def scan():
        return 3000

    @dramatiq.actor(queue_name="elsewhere")
    def work(n):
        pass

    @broker.follows(scan)
    def each(count):
        for n in range(count):
            if n == breaks_at:
                raise LookupError("in the middle")
            yield work.message(n)

    scan.send()
    broker.queues.pop("elsewhere")  # nobody consumes it
    with working(broker):
        until(lambda: rows("job_type = 'scan'")[0].status in ("completed", "error"))
    assert store.value("select count(*) from job_queue where job_type = 'work'") == (3000 if breaks_at is None else 0)


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


def test_a_callback_follows_its_job(broker):
    seen = []

    @dramatiq.actor
    def work():
        return 3

    @dramatiq.actor
    def after(message, result):
        seen.append((message["actor_name"], result))

    work.send_with_options(on_success=after)
    with working(broker):
        until(lambda: seen == [("work", 3)])
