"""`jobbko schedules`."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

import actors  # noqa: F401  every job declares itself
from broker import broker
from jobbko import store

NIGHTLY = "filesystem_rescan"


def test_lists_what_the_code_says_before_any_scheduler_has_run(run):
    said = run("schedules")
    for part in (NIGHTLY, "23 2 * * *", "never seen by a scheduler", "in "):
        assert part in said
    found = json.loads(run("schedules", "--json"))["schedules"]
    assert {each["name"] for each in found} == set(broker.schedules.known)
    nightly = next(each for each in found if each["name"] == NIGHTLY)
    assert (nightly["timezone"], nightly["enabled"], nightly["last_tick_at"]) == ("UTC", True, None)
    assert len(nightly["next"]) == 3


def test_shows_the_last_tick_and_what_became_of_it(run, job):
    store.run("insert into schedule (name, cron, timezone, first_seen_at) values (%(n)s, 'x', 'UTC', now())", n=NIGHTLY)
    store.run("insert into schedule (name, cron, timezone, first_seen_at) values ('gone', '@daily', 'UTC', now())")
    store.run(
        "insert into schedule_tick (schedule, tick_at, job_id) values (%(n)s, now() - interval '3 hours', %(id)s)",
        n=NIGHTLY,
        id=job[0],
    )
    said = run("schedules")
    for part in ("3h ago", "error", "gone", "not in the code"):
        assert part in said


def test_the_next_times_are_those_of_the_calendar(run):
    times = json.loads(run("schedules", NIGHTLY, "--next", "20", "--json"))["next"]
    assert len(times) == 20
    assert all(time.endswith("T02:23:00+00:00") for time in times)
    assert datetime.fromisoformat(times[0]) > datetime.now(UTC)
    assert run("schedules", NIGHTLY).count("02:23 UTC") == 5


def test_disable_and_enable(run):
    assert "is disabled" in run("schedules", "--disable", NIGHTLY)
    assert "was already disabled" in run("schedules", "--disable", NIGHTLY)
    assert "disabled" in run("schedules")
    found = json.loads(run("schedules", "--json"))["schedules"]
    assert [each["name"] for each in found if not each["enabled"]] == [NIGHTLY]
    assert "is enabled" in run("schedules", "--enable", NIGHTLY)
    assert store.rows("select name, cron, enabled from schedule") == [(NIGHTLY, "23 2 * * *", True)]


def test_run_sends_the_job_now_and_no_tick(run):
    assert "waits in the queue" in run("schedules", "--run", NIGHTLY)
    assert store.rows("select job_type, status::text from job_queue") == [(NIGHTLY, "pending")]
    assert store.value("select count(*) from schedule_tick") == 0


@pytest.mark.parametrize(
    "arguments", [("nightli",), ("--enable", "nightli"), ("--disable", "nightli"), ("--run", "nightli")]
)
def test_an_unknown_schedule_is_told(complaint, arguments):
    known = ", ".join(sorted(broker.schedules.known))
    assert f"There is no schedule nightli. Schedules: {known}" in complaint("schedules", *arguments, code=3)


@pytest.mark.parametrize("arguments", [("--next", "3"), (NIGHTLY, "--run", NIGHTLY), (NIGHTLY, "--next", "0")])
def test_what_makes_no_sense_is_a_usage_error(complaint, arguments):
    complaint("schedules", *arguments, code=2)
