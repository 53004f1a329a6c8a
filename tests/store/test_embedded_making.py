"""The embedded Postgres is made in a folder where there is nothing yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.processes import answer, answers, arrived, arriving, kill, stopped, user
from tests.waiting import until

pytestmark = pytest.mark.slow  # real servers, started and killed


def test_the_first_makes_a_durable_server_without_a_port(nowhere):
    with user(nowhere) as first:
        shown = [answer(first.url, f"show {name}") for name in ("fsync", "synchronous_commit", "listen_addresses")]

        assert shown == ["on", "on", ""]
        assert answer(first.url, "select current_database()") == "jobbko"
        assert (nowhere / "postgres").stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
def test_many_who_come_at_once_share_one_server(nowhere):
    with arriving(nowhere) as one, arriving(nowhere) as two, arriving(nowhere) as three:
        urls = {arrived(process).url for process in (one, two, three)}

        assert len(urls) == 1
        assert answers(*urls)


@pytest.mark.slow
def test_making_it_can_be_killed_at_any_moment(nowhere):
    with arriving(nowhere) as first:
        until(lambda: (nowhere / "postgres" / "data.new" / "base").exists())
        kill(first.pid)

    with user(nowhere) as second:
        assert answers(second.url)
        assert not (nowhere / "postgres" / "data.new").exists()


@pytest.mark.slow
def test_a_path_too_long_for_a_socket_gets_one_elsewhere(nowhere):
    deep = nowhere / ("deep" * 20) / ("deeper" * 10)
    with user(deep) as first:
        assert "%2Ftmp%2Fjobbko-" in first.url
        assert answers(first.url)
        folder = Path(first.url.partition("host=")[2].partition("&")[0].replace("%2F", "/"))
        assert folder.stat().st_mode & 0o777 == 0o700
    until(lambda: stopped(deep))

    assert not folder.exists()
