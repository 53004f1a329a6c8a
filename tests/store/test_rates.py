"""Rates: moments that all workers share."""

from __future__ import annotations

import pytest

from jobbko import store
from jobbko.store import gates

pytestmark = pytest.mark.usefixtures("tx")


def test_musicbrainz_is_asked_once_a_second_by_all_together():
    # https://musicbrainz.org/doc/MusicBrainz_API/Rate_Limiting
    waits = [gates.take("musicbrainz") for _ in range(4)]
    assert waits == [pytest.approx(n, abs=0.05) for n in range(4)]


def test_a_rate_can_be_changed_while_workers_run():
    gates.set_rate("musicbrainz", 10)
    waits = [gates.take("musicbrainz") for _ in range(3)]
    assert waits == [pytest.approx(n / 10, abs=0.05) for n in range(3)]


def test_idle_time_is_not_saved_up():
    gates.take("musicbrainz")
    store.run("update service_rate set next_at = clock_timestamp() - interval '1 hour'")
    assert gates.take("musicbrainz") == 0
    assert gates.take("musicbrainz") == pytest.approx(1, abs=0.05)


def test_a_service_without_a_rate_need_not_wait():
    assert [gates.take("coverart") for _ in range(3)] == [0, 0, 0]
