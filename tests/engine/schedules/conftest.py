"""What the tests of schedules share: a clock in the test's hand, and a schedule every few minutes or nights."""

from __future__ import annotations

from datetime import UTC, datetime

import dramatiq
import pendulum
import periodiq
import pytest

from jobbko import store
from jobbko.engine.cron import Cron

START = datetime(2026, 11, 28, 10, 2, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch):
    """Sets the time that periodiq reads; its alarms and pauses do nothing, the test is what wakes it."""
    monkeypatch.setattr(periodiq, "alarm", lambda seconds: None)
    monkeypatch.setattr(periodiq, "sleep", lambda seconds: None)
    now = [pendulum.instance(START)]
    monkeypatch.setattr(pendulum, "now", lambda: now[0])

    def put(at):
        now[0] = pendulum.instance(at)

    return put


def process(broker):
    """A scheduler as a new process would have it: it remembers nothing."""
    for schedule in broker.schedules.known.values():
        schedule.known = False
    return periodiq.Scheduler([actor for actor in broker.actors.values() if "periodic" in actor.options])


def ticks(name="nightly"):
    return [
        f"{at.astimezone(UTC):%d %H:%M}"
        for (at,) in store.rows("select tick_at from schedule_tick where schedule = %(name)s order by 1", name=name)
    ]


def work_is_done():
    store.run("update job_queue set state = 'done', lease_token = gen_random_uuid() where state = 'queued'")


def declare(spec, timezone="UTC", **options):
    @dramatiq.actor(actor_name="nightly", periodic=Cron(spec, timezone), **options)
    def nightly():
        pass

    return nightly
