"""Each tick is sent once, with the clock in the test's hand: periodiq's own scheduler, our store."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pendulum
import periodiq
import pytest

from jobbko import store
from jobbko.engine import schedules as engine
from jobbko.engine.cron import Cron
from jobbko.store import schedules
from tests.engine.conftest import statuses
from tests.engine.schedules.conftest import START, declare, process, ticks, work_is_done


@pytest.mark.slow
def test_two_schedulers_that_are_started_again_at_every_tick_send_each_tick_once(broker, clock):
    declare("*/5 * * * *")
    process(broker).schedule()
    for minute in range(1, 61):
        for second in (0, 0.4, 20, 59):
            clock(START + timedelta(minutes=minute, seconds=second))
            process(broker).schedule()
            process(broker).schedule()
            work_is_done()

    hour = [f"28 {h:02d}:{m:02d}" for h in (10, 11) for m in range(0, 60, 5)]
    assert ticks() == hour[1:13]
    assert statuses() == ["completed"] * 12
    assert store.value("select count(distinct job_id) from schedule_tick join job_queue on id = job_id") == 12


def test_two_schedulers_at_the_same_moment_send_one(broker):
    nightly = declare("*/5 * * * *")
    engine.Schedule.register(broker.schedules.known["nightly"], START)
    ready = threading.Barrier(8)

    def send():
        ready.wait()
        nightly.send_with_options(scheduled_at="2026-11-28T10:05:00+00:00")

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ticks() == ["28 10:05"]
    assert statuses() == ["pending"]


def test_what_a_scheduler_missed_is_made_up_for_once(broker, clock):
    # voiio/dramatiq-crontab#97; riverqueue/river#791
    declare("*/5 * * * *")
    process(broker).schedule()
    clock(START + timedelta(minutes=17))  # down at 10:05, 10:10 and 10:15
    again = process(broker)
    again.schedule()
    again.schedule()
    assert ticks() == ["28 10:15"]
    assert statuses() == ["pending"]


def test_a_weekly_job_runs_however_often_the_scheduler_is_deployed(broker, clock):
    declare("0 3 * * 0")
    process(broker).schedule()
    for day in range(1, 22):  # never up at the time itself
        clock(START + timedelta(days=day))
        process(broker).schedule()
        work_is_done()
    assert ticks() == ["29 03:00", "06 03:00", "13 03:00"]


def test_the_first_start_makes_up_for_nothing(broker, clock):
    declare("*/5 * * * *")
    clock(START + timedelta(minutes=3, seconds=20))
    process(broker).schedule()
    assert ticks() == []


def test_other_times_are_not_made_up_for(broker, clock):
    declare("0 9 * * *")
    process(broker).schedule()
    clock(START + timedelta(hours=1))
    broker.schedules.known["nightly"].cron = Cron("0 * * * *")
    process(broker).schedule()
    assert ticks() == []
    clock(START + timedelta(hours=1, minutes=58))
    process(broker).schedule()
    assert ticks() == ["28 12:00"]


def test_a_clock_that_is_put_back_sends_nothing_again(broker, clock):
    declare("*/5 * * * *")
    scheduler = process(broker)
    scheduler.schedule()
    clock(START + timedelta(minutes=8))
    scheduler.schedule()
    clock(START + timedelta(minutes=1))
    scheduler.schedule()
    clock(START + timedelta(minutes=4))
    process(broker).schedule()
    assert ticks() == ["28 10:10"]


def test_it_looks_once_a_minute_in_case_the_machine_was_asleep(broker, clock, monkeypatch):
    alarms = []
    monkeypatch.setattr(periodiq, "alarm", alarms.append)
    declare("0 3 * * 0")
    process(broker).schedule()
    assert alarms == [60]


def test_a_disabled_schedule_sends_nothing_and_its_pause_is_not_made_up_for(broker, clock):
    declare("*/5 * * * *")
    process(broker).schedule()
    assert schedules.set_enabled("nightly", "*/5 * * * *", "UTC", False)
    assert not schedules.set_enabled("nightly", "*/5 * * * *", "UTC", False)
    clock(START + timedelta(minutes=8))
    process(broker).schedule()
    broker.actors["nightly"].send_with_options(scheduled_at="2026-11-28T10:05:00+00:00")
    assert ticks() == []
    assert statuses() == []

    assert schedules.set_enabled("nightly", "*/5 * * * *", "UTC", True)
    assert store.value("select first_seen_at > now() - interval '1 minute' from schedule")
    store.run("update schedule set first_seen_at = %(at)s", at=START + timedelta(minutes=9))  # as if it were that day
    clock(START + timedelta(minutes=10))
    process(broker).schedule()
    assert ticks() == []
    clock(START + timedelta(minutes=14))
    process(broker).schedule()
    assert ticks() == ["28 10:15"]


@pytest.mark.parametrize("zone", ["Europe/Oslo", "America/New_York", "Asia/Kolkata"])
def test_times_are_utc_whatever_zone_the_process_is_in(broker, monkeypatch, clock, zone):
    declare("0 3 * * *")
    monkeypatch.setattr(pendulum, "now", lambda: pendulum.instance(START).in_timezone(zone))
    process(broker).schedule()
    after = pendulum.instance(START).add(hours=17).in_timezone(zone)
    monkeypatch.setattr(pendulum, "now", lambda: after)
    process(broker).schedule()
    assert ticks() == ["29 03:00"]


def test_the_clocks_going_back_in_oslo_send_one_run_in_that_night(broker, clock):
    declare("30 2 * * *", "Europe/Oslo")
    night = datetime(2026, 10, 24, 12, 1, tzinfo=UTC)
    clock(night)
    process(broker).schedule()
    for minutes in range(0, 24 * 60, 10):
        clock(night + timedelta(minutes=minutes))
        process(broker).schedule()
        work_is_done()
    assert ticks() == ["25 00:30"]
