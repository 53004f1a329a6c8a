"""When a schedule's times are. The expected times are read off a calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

import pendulum
import pytest

from jobbko.engine.cron import NAMED, Cron

#: A Saturday.
START = datetime(2026, 11, 28, 10, 2, 30, tzinfo=UTC)


def times(spec, timezone="UTC", start=START, many=3):
    return [f"{at:%Y-%m-%d %H:%M}" for at in islice(Cron(spec, timezone).after(start), many)]


@pytest.mark.parametrize("sunday", ["0 0 * * 0", "0 0 * * 7", "0 0 * * sun", "0 0 * * SUN", "@weekly"])
def test_sunday_has_many_names(sunday):
    assert times(sunday) == ["2026-11-29 00:00", "2026-12-06 00:00", "2026-12-13 00:00"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("23 2 * * *", ["2026-11-29 02:23", "2026-11-30 02:23", "2026-12-01 02:23"]),
        ("*/5 * * * 1", ["2026-11-30 00:00", "2026-11-30 00:05", "2026-11-30 00:10"]),
        ("0 * 1 * *", ["2026-12-01 00:00", "2026-12-01 01:00", "2026-12-01 02:00"]),
        ("0 12 31 * *", ["2026-12-31 12:00", "2027-01-31 12:00", "2027-03-31 12:00"]),
        ("0 0 29 2 *", ["2028-02-29 00:00", "2032-02-29 00:00", "2036-02-29 00:00"]),
        ("0 0 1 jan *", ["2027-01-01 00:00", "2028-01-01 00:00", "2029-01-01 00:00"]),
        ("0 6 13 * fri", ["2026-12-04 06:00", "2026-12-11 06:00", "2026-12-13 06:00"]),
        ("30 4 * * mon-wed", ["2026-11-30 04:30", "2026-12-01 04:30", "2026-12-02 04:30"]),
        ("0 9-17/4 * * *", ["2026-11-28 13:00", "2026-11-28 17:00", "2026-11-29 09:00"]),
        ("@hourly", ["2026-11-28 11:00", "2026-11-28 12:00", "2026-11-28 13:00"]),
        ("@daily", ["2026-11-29 00:00", "2026-11-30 00:00", "2026-12-01 00:00"]),
        ("@monthly", ["2026-12-01 00:00", "2027-01-01 00:00", "2027-02-01 00:00"]),
        ("@yearly", ["2027-01-01 00:00", "2028-01-01 00:00", "2029-01-01 00:00"]),
    ],
)
def test_the_calendar_is_right(spec, expected):
    assert times(spec) == expected


def test_a_zone_is_kept_over_summer_and_winter():
    # Oslo is at UTC+2 until 2026-10-25 03:00 and then at UTC+1.
    assert times("30 4 * * *", "Europe/Oslo", datetime(2026, 10, 23, 12, tzinfo=UTC)) == [
        "2026-10-24 02:30",
        "2026-10-25 03:30",
        "2026-10-26 03:30",
    ]


def test_a_time_that_is_left_out_comes_at_the_end_of_the_gap():
    # At 2026-03-29 02:00 the clock in Oslo goes to 03:00, which is 01:00 UTC.
    assert times("30 2 * * *", "Europe/Oslo", datetime(2026, 3, 28, 0, tzinfo=UTC)) == [
        "2026-03-28 01:30",
        "2026-03-29 01:00",
        "2026-03-30 00:30",
    ]


def test_a_time_that_comes_twice_counts_once_and_an_even_beat_goes_on():
    # At 2026-10-25 03:00 the clock in Oslo goes back to 02:00: 02:30 is 00:30 UTC and 01:30 UTC.
    night = datetime(2026, 10, 24, 23, 50, tzinfo=UTC)
    assert times("30 2 * * *", "Europe/Oslo", night, 2) == ["2026-10-25 00:30", "2026-10-26 01:30"]
    assert times("30 2 * * *", "Europe/Oslo", datetime(2026, 10, 25, 1, 10, tzinfo=UTC), 1) == ["2026-10-26 01:30"]
    assert times("*/30 * * * *", "Europe/Oslo", night, 5) == [
        f"2026-10-25 {time}" for time in ("00:00", "00:30", "01:00", "01:30", "02:00")
    ]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Oslo", "America/New_York", "America/Santiago", "Pacific/Apia"])
@pytest.mark.parametrize(
    "spec", ["30 2 * * *", "0,30 2 * * *", "*/10 * * * *", "15 1-4 * * *", "0 */2 * * *", "@daily"]
)
@pytest.mark.parametrize("change", ["2026-03-28", "2026-10-24", "2026-03-07", "2026-10-31", "2026-04-04", "2026-09-05"])
def test_looking_back_finds_what_looking_ahead_has_promised(zone, spec, change):
    cron = Cron(spec, zone)
    start = datetime.fromisoformat(f"{change}T00:00+00:00")
    promised = []
    for at in cron.after(start - timedelta(minutes=1)):
        if at > start + timedelta(days=2):
            break
        promised.append(at)
    for minutes in range(0, 2 * 24 * 60, 97):
        at = start + timedelta(minutes=minutes)
        if past := [tick for tick in promised if tick <= at]:
            assert cron.latest(at) == past[-1]
        if future := [tick for tick in promised if tick > at]:
            assert next(cron.after(at)) == future[0]


def test_the_latest_time_may_be_this_very_moment():
    cron = Cron("0 3 * * *")
    assert cron.latest(datetime(2026, 11, 28, 3, tzinfo=UTC)) == datetime(2026, 11, 28, 3, tzinfo=UTC)
    assert cron.latest(datetime(2026, 11, 28, 2, 59, 59, 999999, tzinfo=UTC)) == datetime(2026, 11, 27, 3, tzinfo=UTC)


def test_periodiq_gets_pendulums_times_in_the_zone_that_it_asks_in():
    now = pendulum.datetime(2026, 11, 28, 10, 2, 30, tz="America/New_York")
    found = Cron("0 4 * * *", "Europe/Oslo").next_valid_date(now)
    assert isinstance(found, pendulum.DateTime)
    assert found.to_iso8601_string() == "2026-11-28T22:00:00-05:00"
    assert (found - now).total_seconds() == 12 * 3600 - 150


def test_validate_says_whether_the_minute_is_one_of_its_times():
    cron = Cron("*/5 * * * *")
    assert cron.validate(pendulum.datetime(2026, 11, 28, 10, 5, 59))
    assert not cron.validate(pendulum.datetime(2026, 11, 28, 10, 6))


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("61 * * * *", "bad minute"),
        ("* * * * 8", "bad day-of-week"),
        ("* * * foo *", "bad month"),
        ("0 0 30 2 *", "bad day-of-month"),
        ("0 0 31 4,6 *", "bad day-of-month"),
        ("*/0 * * * *", "bad minute"),
        ("* * * *", "five fields"),
        ("0 * * * * *", "five fields"),
        ("@reboot", "@weekly"),
        ("", "five fields"),
    ],
)
def test_a_wrong_spec_is_refused_where_it_is_written(spec, part):
    with pytest.raises(ValueError, match=part):
        Cron(spec)


@pytest.mark.parametrize("zone", ["Europe/Olso", "", "../etc/passwd"])
def test_an_unknown_zone_is_refused(zone):
    with pytest.raises(ValueError, match="unknown time zone"):
        Cron("@daily", zone)


def test_it_is_written_as_it_was_given():
    assert [str(Cron(spec)) for spec in (*NAMED, " 5 4 * * sun ")] == [*NAMED, "5 4 * * sun"]
    assert str(Cron("@daily", "Europe/Oslo")) == "@daily Europe/Oslo"
