"""The test kit, used as a developer would."""

from __future__ import annotations

import dramatiq
import pytest

from jobbko.engine import PostgresBroker
from jobbko.errors import Throttled
from jobbko.testing import drain, sent, time_passes


@pytest.fixture
def broker(database):
    before = dramatiq.broker.global_broker
    own = PostgresBroker()
    dramatiq.set_broker(own)
    yield own
    dramatiq.set_broker(before)


def test_what_was_sent_can_be_looked_at(broker):
    @dramatiq.actor(priority=7)
    def work(n):
        pass

    work.send_with_options(args=(1,), delay=60_000, subject="page:1")

    (job,) = sent("work")
    assert (job.payload, job.priority, job.subject) == ({"n": 1}, 7, "page:1")
    assert job.due_in == pytest.approx(60, abs=1)
    assert sent("other") == []


def test_drain_runs_what_is_due_and_what_follows_and_leaves_the_rest(broker):
    ran = []

    @dramatiq.actor
    def first(n):
        return n

    @dramatiq.actor
    def second(n):
        ran.append(n)

    (first.message(1) | second.message()).run()
    second.send_with_options(args=("later",), delay=60_000)
    drain(broker)

    assert ran == [1]
    assert [job.payload for job in sent()] == [{"n": "later"}]


def test_time_passes_without_waiting(broker):
    tries = []

    @dramatiq.actor
    def work():
        tries.append(1)
        if len(tries) == 1:
            raise ValueError
        if len(tries) == 2:
            raise Throttled("service")

    work.send()
    drain(broker)
    assert sent()[0].due_in == pytest.approx(30, abs=1)
    time_passes(31)
    with pytest.raises(AssertionError):
        drain(broker, timeout=0.5)  # it waits at its gate
    time_passes(61)
    drain(broker)
    assert len(tries) == 3
