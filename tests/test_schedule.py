"""The timetable: every periodic job and when it is sent. UTC, since no time zone is named."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice

import pytest

import actors  # noqa: F401  every job declares itself
from broker import broker, cron

#: job: (when, its first two times after Monday 2026-11-30 00:00)
TIMETABLE = {
    "cleanup_sweep": ("7 * * * *", "Mon 30 00:07", "Mon 30 01:07"),
    "filesystem_rescan": ("23 2 * * *", "Mon 30 02:23", "Tue 01 02:23"),
}


def test_is_complete():
    assert {name: str(schedule) for name, schedule in broker.schedules.known.items()} == {
        name: when for name, (when, *_) in TIMETABLE.items()
    }


@pytest.mark.parametrize("name", TIMETABLE)
def test_comes_at_its_times(name):
    when, *expected = TIMETABLE[name]
    monday = datetime(2026, 11, 30, tzinfo=UTC)
    assert [f"{at:%a %d %H:%M}" for at in islice(cron(when).after(monday), 2)] == expected
