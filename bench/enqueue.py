"""Jobs per second that get into Jobbkø's queue, by each of the ways in: python bench/enqueue.py [--json] [--jobs N]."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable

import dramatiq

from jobbko import settings, store
from jobbko.engine import PostgresBroker
from jobbko.store import pool
from jobbko.store.migrate import migrate
from jobbko.testing.postgres import temporary_server

DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
INSERT = """
insert into job_queue (job_type, payload)
select 'noop', jsonb_build_object('n', n) from generate_series(1, %(jobs)s) n
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--jobs", type=int, default=20_000, help="jobs for each way; one by one a tenth of it")
    options = parser.parse_args()
    with temporary_server(**DURABLE) as settings.DATABASE_URL:
        migrate()
        broker = PostgresBroker()

        @dramatiq.actor(broker=broker)
        def noop(n: int) -> None:
            pass

        broker.job_types.publish()
        print(f"fsync and synchronous_commit on; one client; {os.cpu_count()} processors\n")
        print(f"{'':32} {'jobs':>7} {'seconds':>8} {'jobs/s':>8}")
        rates = {name: measured(name, way, jobs) for name, way, jobs in ways(broker, noop, options.jobs)}
        pool.close()
    if options.json:
        print(json.dumps({"enqueued_per_second": rates}))


def ways(
    broker: PostgresBroker, noop: dramatiq.Actor[..., None], jobs: int
) -> list[tuple[str, Callable[[int], object], int]]:
    def one_by_one(count: int) -> None:
        for n in range(count):
            noop.send(n)

    def in_a_transaction(count: int) -> None:
        with store.transaction():
            one_by_one(count)

    def batch(count: int) -> None:
        broker.enqueue_many(noop.message(n) for n in range(count))

    def by_sql(count: int) -> None:
        store.run(INSERT, jobs=count)

    return [
        ("one by one", one_by_one, jobs // 10),
        ("in one transaction", in_a_transaction, jobs // 10),
        ("batch", batch, jobs),
        ("by SQL", by_sql, jobs),
    ]


def measured(name: str, way: Callable[[int], object], jobs: int) -> float:
    """Into a queue that is empty, so that no way pays for those before it."""
    store.run("truncate job_queue cascade")
    store.run("checkpoint")
    started = time.perf_counter()
    way(jobs)
    seconds = time.perf_counter() - started
    ((waiting,),) = store.rows("select count(*) from job_queue where status = 'pending'")
    assert waiting == jobs, f"{name}: {waiting} of {jobs} jobs wait"
    print(f"{name:32} {jobs:>7} {seconds:>8.2f} {jobs / seconds:>8,.0f}", flush=True)
    return round(jobs / seconds, 1)


if __name__ == "__main__":
    main()
