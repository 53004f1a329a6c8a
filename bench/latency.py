"""Milliseconds from COMMIT to the start of the job on an idle worker: python bench/latency.py [--json] [--jobs N].

With the doorbell (LISTEN), and by polling alone, as behind a pooler in transaction mode.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import threading
import time

import dramatiq
import psycopg2

from jobbko import settings, store
from jobbko.engine import PostgresBroker
from jobbko.store import pool
from jobbko.store.migrate import migrate
from jobbko.testing.postgres import temporary_server
from jobbko.testing.worker import working

DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
INSERT = "insert into job_queue (job_type, payload) values ('note', '{}')"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--jobs", type=int, default=200, help="jobs with the doorbell; a tenth of it without")
    options = parser.parse_args()
    with temporary_server(**DURABLE) as settings.DATABASE_URL:
        migrate()
        print(f"fsync and synchronous_commit on; poll interval 1 s; {os.cpu_count()} processors\n")
        print(f"{'':14} {'jobs':>6} {'p50 ms':>8} {'p99 ms':>8} {'max ms':>8}")
        found = {
            "doorbell": measured("doorbell", options.jobs),
            "polling": measured("polling", max(options.jobs // 10, 5), quiet=True),
        }
        pool.close()
    if options.json:
        print(json.dumps({"start_latency_ms": found}))


def measured(name: str, jobs: int, quiet: bool = False) -> dict[str, float]:
    broker = PostgresBroker()
    started = threading.Event()
    at = [0.0]

    @dramatiq.actor(broker=broker)
    def note() -> None:
        at[0] = time.perf_counter()
        started.set()

    client = psycopg2.connect(settings.DATABASE_URL)
    waits = []
    with working(broker, threads=2), client.cursor() as cursor:
        cursor.execute("set jobbko.quiet = 'on'" if quiet else "reset jobbko.quiet")
        client.commit()
        for _ in range(jobs):
            time.sleep(0.03)  # idle again
            started.clear()
            cursor.execute(INSERT)
            client.commit()
            committed = time.perf_counter()
            started.wait(30)
            waits.append((at[0] - committed) * 1000)
    client.close()
    store.run("truncate job_queue cascade")
    waits.sort()
    result = {"p50": statistics.median(waits), "p99": waits[int(len(waits) * 0.99) - 1], "max": waits[-1]}
    print(f"{name:14} {jobs:>6} {result['p50']:>8.1f} {result['p99']:>8.1f} {result['max']:>8.1f}")
    return {name: round(value, 1) for name, value in result.items()}


if __name__ == "__main__":
    main()
