"""What a claim touches in a crowded table that is not clean: python bench/claim.py [--json] [--jobs N].

Shared buffers of one turn that claims 8 jobs, and jobs per second before and after, beside 200,000 scheduled, 200,000
dead and 200,000 finished rows: vacuumed; after N jobs without any vacuum; and after N more under the snapshot of a
transaction that somebody left open, vacuumed in vain.
"""

from __future__ import annotations

import argparse
import json
import time

import dramatiq
import psycopg2

from jobbko import settings, store
from jobbko.engine import PostgresBroker
from jobbko.store import pool
from jobbko.store.migrate import migrate
from jobbko.testing.postgres import temporary_server
from jobbko.testing.worker import until, working

DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "autovacuum": "off"}
CROWD = """
insert into job_queue (job_type, lane, flow_id, priority, max_attempts, state, due, scheduled_for)
select 'work', '', gen_random_uuid(), 10, 5, %(state)s::dramatiq.state, %(due)s, clock_timestamp() + %(later)s::interval
  from generate_series(1, 200000)
"""
TURN = "select * from job_turn('{}', '{}', null, null, '{work}', 8, gen_random_uuid(), '30 s', null, true)"
DONE = [0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--jobs", type=int, default=20_000)
    options = parser.parse_args()
    with temporary_server(**DURABLE) as settings.DATABASE_URL:
        migrate()
        broker = PostgresBroker()
        work = dramatiq.actor(count, actor_name="work", broker=broker)
        broker.enqueue(work.message())
        with working(broker):
            until(lambda: DONE[0] == 1)
        store.run("alter table job_queue disable trigger user")
        for state, due, later in (("queued", False, "1 day"), ("rejected", True, "0"), ("done", True, "0")):
            store.run(CROWD, state=state, due=due, later=later)
        store.run("alter table job_queue enable trigger user")
        store.run("vacuum analyze job_queue")
        figures = measured(broker, work, options.jobs)
        pool.close()
    if options.json:
        print(json.dumps({"claim_of_8": figures}))


def measured(broker: PostgresBroker, work: dramatiq.Actor[[], None], jobs: int) -> dict[str, dict[str, int]]:
    figures: dict[str, dict[str, int]] = {}

    def state(name: str, rate: float | None = None) -> None:
        figures[name] = {"buffers": buffers(broker, work)}
        if rate is not None:
            figures[name]["jobs_per_second"] = round(rate)
        print(name.ljust(24), *(f"{value:>8} {what}" for what, value in figures[name].items()), flush=True)

    state("vacuumed")
    state("never vacuumed", run(broker, work, jobs))
    store.run("vacuum analyze job_queue")
    snapshot = psycopg2.connect(settings.DATABASE_URL)
    snapshot.cursor().execute("begin isolation level repeatable read; select count(*) from job_type")
    rate = run(broker, work, jobs)
    store.run("vacuum analyze job_queue")
    state("under an old snapshot", rate)
    snapshot.close()
    store.run("vacuum analyze job_queue")
    state("snapshot gone, vacuumed")
    return figures


def run(broker: PostgresBroker, work: dramatiq.Actor[[], None], jobs: int) -> float:
    broker.enqueue_many(work.message() for _ in range(jobs))
    DONE[0] = 0
    start = time.monotonic()
    with working(broker, threads=8):
        until(lambda: DONE[0] >= jobs, timeout=300)
        rate = jobs / (time.monotonic() - start)
        until(nothing_waits, timeout=60)
    return rate


def nothing_waits() -> bool:
    return not store.value("select exists (select from job_queue where due and state in ('queued', 'consumed'))")


def buffers(broker: PostgresBroker, work: dramatiq.Actor[[], None]) -> int:
    """Of one turn that claims 8, with its plans made; undone afterwards."""
    broker.enqueue_many(work.message() for _ in range(8))
    conn = psycopg2.connect(settings.DATABASE_URL)
    with conn.cursor() as cursor:
        cursor.execute(TURN)
        conn.rollback()
        cursor.execute("explain (analyze, buffers, timing off, format json) " + TURN)
        (plan,) = (cursor.fetchone() or [None])[0]
        found = plan["Plan"]
    conn.close()
    with working(broker):
        until(nothing_waits)
    return int(found["Shared Hit Blocks"] + found["Shared Read Blocks"])


def count() -> None:
    DONE[0] += 1


if __name__ == "__main__":
    main()
