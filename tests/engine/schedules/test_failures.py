"""What fails loses no tick and stops no scheduler without a word."""

from __future__ import annotations

from datetime import timedelta

import dramatiq
import psycopg2
import pytest

from jobbko import settings, store
from jobbko.engine import readiness
from jobbko.engine import schedules as engine
from jobbko.engine.cron import Cron
from jobbko.store import pool, schedules
from tests.engine.conftest import statuses
from tests.engine.schedules.conftest import START, declare, process, ticks


def test_a_tick_and_its_job_are_one_transaction(broker, monkeypatch):
    # procrastinate#1495, #292: a tick that is recorded without its job would never run.
    nightly = declare("*/5 * * * *")
    broker.schedules.known["nightly"].register(START)
    with monkeypatch.context() as broken:
        broken.setitem(schedules.sql, "record", "select 1/0")
        nightly.send_with_options(scheduled_at="2026-11-28T10:05:00+00:00")
    assert (ticks(), statuses()) == ([], [])

    def rolled_back():
        with store.transaction():
            nightly.send_with_options(scheduled_at="2026-11-28T10:05:00+00:00")
            assert ticks() == ["28 10:05"]
            raise InterruptedError

    with pytest.raises(InterruptedError):
        rolled_back()
    assert (ticks(), statuses()) == ([], [])
    assert broker.schedules.known["nightly"].validate(START + timedelta(minutes=4))


def test_a_schedule_that_cannot_be_sent_stops_no_other(broker, clock, monkeypatch, caplog):
    # procrastinate#1463, #1158
    declare("*/5 * * * *")

    @dramatiq.actor(periodic=Cron("*/5 * * * *"))
    def other():
        pass

    scheduler = process(broker)
    scheduler.schedule()
    clock(START + timedelta(minutes=3))
    real = schedules.send

    def send(name, tick_at, job):
        if name == "nightly":
            raise psycopg2.IntegrityError("no")
        return real(name, tick_at, job)

    with monkeypatch.context() as broken:
        broken.setattr(schedules, "send", send)
        scheduler.schedule()
    assert (ticks("nightly"), ticks("other")) == ([], ["28 10:05"])
    assert "nightly at 2026-11-28 10:05:00+00:00 could not be sent" in caplog.text

    clock(START + timedelta(minutes=4))
    scheduler.schedule()
    assert (ticks("nightly"), ticks("other")) == (["28 10:05"], ["28 10:05"])


def test_a_database_that_is_away_for_a_moment_is_waited_for(broker, clock, monkeypatch, caplog):
    caplog.set_level("INFO")
    declare("*/5 * * * *")
    scheduler = process(broker)
    scheduler.schedule()
    clock(START + timedelta(minutes=3))
    away = iter([psycopg2.OperationalError("away"), psycopg2.OperationalError("away")])
    real = schedules.unsent

    def unsent(*asked):
        for error in away:
            raise error
        return real(*asked)

    monkeypatch.setattr(schedules, "unsent", unsent)
    monkeypatch.setattr(readiness.time, "sleep", lambda seconds: None)
    scheduler.schedule()
    assert ticks() == ["28 10:05"]
    said = [record.message for record in caplog.records if record.name == readiness.__name__]
    assert said == ["Waiting for the database: away", "The database is there again."]


def test_a_database_that_stays_away_ends_the_scheduler_with_a_reason(monkeypatch, clock, caplog):
    monkeypatch.setattr(settings, "DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    monkeypatch.setattr(readiness, "PATIENCE", 0)
    pool.close()
    with pytest.raises(SystemExit) as ended:
        engine.Schedule("nightly", Cron("@daily")).validate(START)
    assert ended.value.code == readiness.REFUSED
    assert "The database cannot be reached" in caplog.text
    pool.close()
