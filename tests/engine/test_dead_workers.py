"""Jobs whose worker is gone: found by their lease, charged or not, one by one."""

from __future__ import annotations

import dramatiq
import pytest

from jobbko import settings, store
from jobbko.engine.leases import sweep
from jobbko.testing.worker import working
from tests.engine.conftest import failures, rows, statuses


@pytest.fixture
def brief_lease(monkeypatch):
    """Nobody is charged for a lease from before the server came up; the test's server may be only seconds old."""
    monkeypatch.setattr(settings, "LEASE", 0)


def abandon(where: str = "true") -> None:
    """As a worker leaves its jobs that was killed a while ago."""
    store.run(
        "update job_queue set state = 'consumed', lease_token = gen_random_uuid(), started_at = clock_timestamp(),"
        f" lease_until = clock_timestamp(), worker = gen_random_uuid() where {where}"
    )


def test_one_bad_row_does_not_stop_the_sweep(broker):
    # dbos-inc/dbos-transact-py#805, #804
    @dramatiq.actor
    def work(n):
        pass

    for n in range(5):
        work.send(n)
    abandon()
    # What no statement can write: a trigger of somebody's own that refuses one of the rows.
    store.run(
        "create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;"
        "create trigger refuse before update on job_queue for each row when (old.payload = '{\"n\": 2}')"
        " execute function refuse()"
    )

    assert sweep() == 4
    assert statuses().count("running") == 1


def test_equal_jobs_of_a_dead_worker_become_one(broker, brief_lease):
    @dramatiq.actor(dedupe=True)
    def work(n):
        pass

    for _ in range(2):
        work.send(1)
        abandon("state = 'queued'")
    assert len(rows()) == 2

    assert sweep() == 2
    assert sorted(statuses()) == ["cancelled", "retry"]


def test_nobody_is_charged_for_leases_that_ran_out_while_the_server_was_down(broker):
    @dramatiq.actor
    def work(n):
        pass

    work.send(1)
    # Last renewed before the server came up, as far as the row can tell.
    store.run(
        "update job_queue set state = 'consumed', lease_token = gen_random_uuid(), started_at = clock_timestamp(),"
        " lease_until = pg_postmaster_start_time(), worker = gen_random_uuid()"
    )
    assert sweep() == 1
    assert rows()[0].attempts == 0
    assert failures() == [(1, "refunded", "crashed")]


def test_the_workers_row_is_only_for_show(broker):
    # procrastinate-org/procrastinate#1518; oban-bg/oban#862: orphans are found by their lease.
    @dramatiq.actor
    def work():
        pass

    work.send()
    abandon()
    assert store.value("select count(*) from worker") == 0
    assert sweep() == 1
    assert "running" not in statuses()


def test_each_start_of_a_worker_has_an_identity_of_its_own(broker):
    for _ in range(2):
        with working(broker):
            pass
    assert store.value("select count(distinct id) from worker where stopped_at is not null") == 2
