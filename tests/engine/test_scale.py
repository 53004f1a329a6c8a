"""Large numbers: a backlog with few locks, and a worker's memory beside hundreds of thousands of scheduled jobs."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import dramatiq
import pytest

from jobbko import settings, store
from jobbko.engine import PostgresBroker
from jobbko.store import migrate, pool
from jobbko.testing.postgres import temporary_server
from jobbko.testing.worker import until, working
from tests.engine.apps import marks as app
from tests.engine.processes import dramatiq_worker, mark_table, marks, stop

__all__ = ["mark_table"]
pytestmark = pytest.mark.slow


def test_twenty_thousand_jobs_are_done_on_a_server_with_hardly_any_locks(monkeypatch):
    # goauthentik/authentik#16314, #18151: a lock for each message ends in "out of shared memory".
    with temporary_server(max_locks_per_transaction=10, max_connections=10) as url:
        monkeypatch.setattr(settings, "DATABASE_URL", url)
        pool.close()
        migrate.migrate()
        broker = PostgresBroker()
        seen = []

        @dramatiq.actor(broker=broker)
        def work(n):
            seen.append(n)

        broker.enqueue_many(work.message(n) for n in range(20_000))
        with working(broker, threads=4):
            until(lambda: len(seen) >= 20_000, timeout=120)
            until(lambda: store.value("select count(*) from job_queue where status <> 'completed'") == 0)
        pool.close()
    assert sorted(seen) == list(range(20_000))


@pytest.mark.usefixtures("mark_table")
def test_a_workers_memory_does_not_grow_with_jobs_for_tomorrow():
    with dramatiq_worker(threads=2) as worker:
        first = resident_after_some_work(worker.pid, 300)
        store.run(
            "insert into job_queue (job_type, payload, scheduled_for, priority)"
            " select 'short', '{\"n\": 0}', clock_timestamp() + interval '1 day', 10 from generate_series(1, 200000)"
        )
        second = resident_after_some_work(worker.pid, 600)
        stop(worker)

    assert store.value("select count(*) from job_queue where status = 'pending'") == 200_000
    # 200,000 messages of a delay queue would be some 200 MB.
    assert second - first < 5 * 1024


def resident_after_some_work(pid: int, total: int) -> int:
    """kB that the worker's processes hold after they have done so many jobs in all."""
    app.broker.enqueue_many(app.short.message(n) for n in range(300))
    until(lambda: len(marks()) == total, timeout=60)
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(
        int(Path(f"/proc/{child}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
        for child in children
    )


def test_jobs_run_once_and_on_time_although_postgres_was_killed_while_they_waited(monkeypatch):
    # Bogdanp/dramatiq#527. The test's server is started again by its keeper.
    monkeypatch.setattr(settings, "LEASE", 5)
    with temporary_server(synchronous_commit="on") as url:
        monkeypatch.setattr(settings, "DATABASE_URL", url)
        pool.close()
        migrate.migrate()
        broker = PostgresBroker()
        seen = []

        @dramatiq.actor(broker=broker)
        def work(n):
            seen.append(n)

        with working(broker):
            store.run("checkpoint")
            broker.enqueue_many((work.message(n) for n in range(50)), delay=2500)
            data = Path(store.value("show data_directory"))
            os.kill(int((data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
            until(lambda: len(seen) >= 50, timeout=60)
            until(lambda: not broker.process.dispatcher.held, timeout=20)
            assert store.rows("select distinct status::text, attempts from job_queue") == [("completed", 0)]
        pool.close()
    assert sorted(seen) == list(range(50))
