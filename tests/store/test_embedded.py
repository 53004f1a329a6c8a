"""The embedded Postgres: who comes joins it, the last to go stops it, whoever is killed is replaced."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from jobbko import settings
from jobbko.errors import UserError
from jobbko.store import cluster, embedded, installation
from tests.store.processes import answer, answers, keeper_of, kill, new_place, server, stopped, user
from tests.waiting import until

pytestmark = pytest.mark.slow  # real servers, started and killed


@pytest.fixture(scope="module")
def made():
    """A data folder where the cluster has been made: that takes longest, and most tests are about what follows."""
    place = new_place()
    with user(place):
        pass
    until(lambda: stopped(place))
    yield place
    shutil.rmtree(place)


@pytest.fixture
def place(made):
    """The same, with a server that does not run; what a test leaves in it stays."""
    yield made
    until(lambda: stopped(made))


@pytest.fixture
def here(made, nowhere, monkeypatch):
    """A copy that this process itself uses, and may spoil."""
    place = nowhere
    subprocess.run(["cp", "-a", made / "postgres", place], check=True)
    monkeypatch.setattr(settings, "DATA_DIR", place)
    monkeypatch.setattr(settings, "EMBEDDED_LINGER", 0)
    monkeypatch.setattr(embedded, "_joined", joined := {})
    yield place
    for descriptor in joined.values():
        os.close(descriptor)


def test_the_second_joins_and_the_last_stops_it(place):
    with user(place) as first:
        pid = server(place)
        with user(place) as second:
            first.leave()

            assert second.url == first.url
            assert server(place) == pid
            assert answers(second.url)

            second.leave()

    until(lambda: stopped(place))


def test_data_survives_a_restart(place):
    with user(place) as first:
        answer(first.url, "create table kept as select 42 as answer")
    until(lambda: stopped(place))

    with user(place) as second:
        assert answer(second.url, "select answer from kept") == 42


def test_lingers_for_the_next_command(place):
    with user(place, JOBBKO_EMBEDDED_LINGER="20"):
        pid = server(place)

    with user(place):
        assert server(place) == pid
        kill(keeper_of(place))  # which would linger on after this test

    with user(place):
        pass


def test_a_killed_user_counts_no_more(place):
    with user(place) as killed:
        with user(place) as other:
            killed.kill()

            assert answers(other.url)
            other.kill()

        until(lambda: stopped(place))


def test_a_killed_keeper_is_replaced(place):
    with user(place) as first:
        pid = server(place)
        kill(keeper_of(place))

        assert answers(first.url)
        with user(place):
            assert server(place) == pid
            assert keeper_of(place)

    until(lambda: stopped(place))


def test_a_killed_server_is_started_again_without_being_asked(place):
    with user(place) as first:
        answer(first.url, "create table committed as select 42 as answer")

        kill(server(place))

        until(lambda: answers(first.url))
        assert answer(first.url, "select answer from committed") == 42


def test_the_next_one_starts_it_when_both_are_killed(place):
    with user(place) as first:
        kill(keeper_of(place))
        kill(server(place))

        with user(place):
            assert answers(first.url)


def test_a_new_keeper_starts_the_server_that_is_killed_later(place):
    with user(place) as first:
        kill(keeper_of(place))
        with user(place):
            kill(server(place))

            until(lambda: answers(first.url))


def test_one_who_comes_while_it_stops_waits_and_starts_it(place):
    with user(place) as first:
        answer(first.url, "create table much as select repeat('x', 100) from generate_series(1, 100000)")
        first.kill()

    with user(place) as second:  # the checkpoint of the stop is still being written
        assert answer(second.url, "select count(*) from much") == 100000


def test_a_stale_pid_that_is_somebody_elses_by_now_is_no_obstacle(place):
    with user(place):
        pass
    until(lambda: stopped(place))
    account = installation.account(place / "postgres")
    with subprocess.Popen(["sleep", "60"], user=account.uid if account else None) as other:
        (place / "postgres" / "data" / "postmaster.pid").write_text(f"{other.pid}\n{place}\n0\n5432\n")

        with user(place) as first:
            assert answers(first.url)

        assert other.poll() is None
        other.kill()


def test_a_forked_child_counts_by_itself(here):
    context = multiprocessing.get_context("fork")
    go, url = context.Event(), embedded.url()

    def child():
        assert embedded.url() == url
        go.wait()

    process = context.Process(target=child)
    process.start()
    until(lambda: len(holders(here)) == 2)

    for key in list(embedded._joined):
        os.close(embedded._joined.pop(key))
    assert answers(url)
    go.set()
    process.join()
    assert process.exitcode == 0


def holders(place):
    """The processes that have users.lock open and are not the keeper."""
    users = place / "postgres" / "users.lock"
    found = set()
    for entry in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if entry.samefile(users):
                found.add(entry.parts[2])
        except OSError:
            continue  # it has ended or closed it
    return found - {str(keeper_of(place))}


@pytest.mark.slow
def test_begins_anew_when_the_folder_is_deleted_under_it(here):
    before = embedded.url()
    old = server(here)
    shutil.rmtree(here / "postgres")

    after = embedded.url()

    assert after != before
    assert answers(after)
    until(lambda: not Path(f"/proc/{old}/cwd").exists())


def test_anothers_pgport_is_not_ours(place):
    with user(place, PGPORT="1", PGHOST="example.org", PGDATA="/nowhere") as first:
        assert answers(first.url)


def test_a_planted_socket_folder_is_refused(here):
    deep = here / ("deep" * 20) / ("deeper" * 10)
    deep.mkdir(parents=True)
    subprocess.run(["cp", "-a", here / "postgres", deep], check=True)
    settings.DATA_DIR = deep
    planted = cluster.socket(cluster.Cluster(deep / "postgres", installation.installation(deep / "postgres")))
    planted.symlink_to(here)

    with pytest.raises(UserError, match=str(planted)):
        embedded.url()

    planted.unlink()
