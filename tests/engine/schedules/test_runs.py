"""What a tick sends: one run, unless the last one still waits, whatever becomes of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import dramatiq
import periodiq
import pytest

from jobbko import store
from jobbko.engine.cron import Cron
from jobbko.testing.worker import until, working
from tests.engine.conftest import rows, statuses
from tests.engine.schedules.conftest import START, declare, process, ticks, work_is_done


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


def test_sending_a_periodic_job_by_hand_is_not_a_tick(broker):
    nightly = declare("@daily")
    nightly.send()
    assert [row.job_type for row in rows()] == ["nightly"]
    assert ticks() == []


def test_periodiqs_own_cron_gets_the_right_sundays(broker):
    @dramatiq.actor(periodic=periodiq.cron("@weekly"))
    def weekly():
        pass

    assert weekly.options["periodic"].cron.latest(START) == datetime(2026, 11, 22, tzinfo=UTC)


def test_what_periodiq_shows_at_its_start(broker, caplog):
    caplog.set_level("INFO")
    declare("30 4 * * sun", "Europe/Oslo")
    periodiq.print_periodic_actors(list(broker.actors.values()))
    assert "30 4 * * sun Europe/Oslo" in caplog.text
