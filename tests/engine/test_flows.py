"""Pipelines, groups and callbacks: what was said beforehand to follow."""

from __future__ import annotations

import uuid

import dramatiq
from dramatiq import group, pipeline

from jobbko import store
from jobbko.errors import Permanent
from jobbko.testing.worker import until, working
from tests.engine.conftest import rows, statuses


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
