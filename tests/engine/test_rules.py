"""What follows a job that was started alone."""

from __future__ import annotations

import dramatiq
import pytest
from dramatiq import pipeline

from jobbko import store
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are, rows, statuses


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


@pytest.mark.parametrize("broken", [False, True])
def test_a_rule_may_send_and_have_transactions_of_its_own(broker, broken):
    @dramatiq.actor(max_attempts=1)
    def scan():
        pass

    @dramatiq.actor(queue_name="elsewhere")
    def work(n):
        pass

    @broker.follows(scan)
    def each(result):
        with store.transaction():
            for n in range(1500):
                if broken and n == 900:
                    raise LookupError
                if n % 100 == 0:
                    work.send(-n)
                yield work.message(n)

    scan.send()
    broker.queues.pop("elsewhere")
    with working(broker):
        until(lambda: rows("job_type = 'scan'")[0].status in ("completed", "error"))
    assert store.value("select count(*) from job_queue where job_type = 'work'") == (0 if broken else 1515)


def test_a_failing_rule_sends_nothing_at_all(broker):
    told = []

    @dramatiq.actor(max_attempts=2, backoff=0.01)
    def work():
        pass

    @dramatiq.actor
    def after(message, result):
        told.append(1)

    @broker.follows(work)
    def each(result):
        raise LookupError

    work.send_with_options(on_success=after)
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert told == []
