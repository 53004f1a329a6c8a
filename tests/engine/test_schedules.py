"""Periodic jobs, with the clock in the test's hand: periodiq's own scheduler, our store."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import dramatiq
import pendulum
import periodiq
import psycopg2
import pytest

from jobbko import settings, store
from jobbko.engine import readiness
from jobbko.engine import schedules as engine
from jobbko.engine.cron import Cron
from jobbko.store import pool, schedules
from jobbko.testing.worker import until, working
from tests.engine.conftest import rows, statuses

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


def test_while_the_last_run_still_waits_no_second_one_is_added(broker, clock):
    # goauthentik/authentik#20885
    declare("*/5 * * * *")
    process(broker).schedule()
    for minute in (3, 8, 13):
        clock(START + timedelta(minutes=minute))
        process(broker).schedule()
    assert ticks() == ["28 10:05", "28 10:10", "28 10:15"]
    assert statuses() == ["pending"]
    assert store.value("select count(distinct job_id) from schedule_tick") == 1

    work_is_done()
    clock(START + timedelta(minutes=18))
    process(broker).schedule()
    assert statuses() == ["completed", "pending"]


def test_while_the_last_run_is_not_done_no_second_one_is_added_where_the_job_says_so(broker, clock):
    declare("*/5 * * * *", dedupe="until_done")
    process(broker).schedule()
    clock(START + timedelta(minutes=3))
    process(broker).schedule()
    store.run("update job_queue set state = 'consumed', lease_token = gen_random_uuid(), lease_until = now() + '1 h'")
    clock(START + timedelta(minutes=8))
    process(broker).schedule()
    assert ticks() == ["28 10:05", "28 10:10"]
    assert statuses() == ["running"]


def test_runs_may_pile_up_where_the_job_says_so(broker, clock):
    declare("*/5 * * * *", dedupe=False)
    process(broker).schedule()
    for minute in (3, 8):
        clock(START + timedelta(minutes=minute))
        process(broker).schedule()
    assert statuses() == ["pending", "pending"]


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


def test_a_late_run_and_its_retries_are_run(broker, monkeypatch):
    tries = []

    @dramatiq.actor(periodic=Cron("@daily"), backoff=0.01)
    def nightly():
        tries.append(1)
        if len(tries) < 3:
            raise RuntimeError

    broker.add_middleware(periodiq.PeriodiqMiddleware())  # which drops what is later than 30 seconds
    nightly.send_with_options(scheduled_at="2020-01-01T00:00:00+00:00")
    with working(broker):
        until(lambda: statuses() == ["completed"])
    assert len(tries) == 3


def test_a_job_that_needs_parameters_cannot_be_periodic(broker):
    with pytest.raises(ValueError, match="is periodic, and nobody is there to give it what"):

        @dramatiq.actor(periodic=Cron("@daily"))
        def nightly(what):
            pass


def test_periodiqs_own_cron_gets_the_right_sundays(broker):
    @dramatiq.actor(periodic=periodiq.cron("@weekly"))
    def weekly():
        pass

    assert weekly.options["periodic"].cron.latest(START) == datetime(2026, 11, 22, tzinfo=UTC)


def test_sending_a_periodic_job_by_hand_is_not_a_tick(broker):
    nightly = declare("@daily")
    nightly.send()
    assert [row.job_type for row in rows()] == ["nightly"]
    assert ticks() == []


def test_what_periodiq_shows_at_its_start(broker, caplog):
    caplog.set_level("INFO")
    declare("30 4 * * sun", "Europe/Oslo")
    periodiq.print_periodic_actors(list(broker.actors.values()))
    assert "30 4 * * sun Europe/Oslo" in caplog.text
