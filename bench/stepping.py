"""What it costs to step over jobs that may not run: python bench/stepping.py [--json] [--jobs N] [--waiting N].

No-op jobs per second of one worker, alone and beside 100,000 more urgent jobs whose gate is closed, whose type is
saturated, whose type is paused, that are dead, or that are scheduled for tomorrow. In one run, the plain case before
and after each of the others, so that the ratios hold although the machine's speed drifts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import dramatiq

from jobbko import settings, store
from jobbko.engine import PostgresBroker
from jobbko.store import gates, pool
from jobbko.store.migrate import migrate
from jobbko.testing.postgres import temporary_server
from jobbko.testing.worker import until, working

#: Jobs that have run; not asked of the table, since that would be one more load on it.
DONE = [0]
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
OTHERS = """
insert into job_queue (job_type, priority, scheduled_for)
select %(job_type)s, 10, clock_timestamp() + %(later)s::interval from generate_series(1, %(waiting)s)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--jobs", type=int, default=5000)
    parser.add_argument("--waiting", type=int, default=100_000)
    options = parser.parse_args()
    with temporary_server(**DURABLE) as settings.DATABASE_URL:
        migrate()
        broker, noop = actors()
        print(f"{'beside':16} {'jobs/s':>8} {'alone':>8} {'ratio':>6}")
        with working(broker, threads=8):
            measure(broker, noop, options.jobs)  # warm
            ratios = {name: compare(name, broker, noop, options.jobs, options.waiting) for name in CASES}
        pool.close()
    if options.json:
        print(json.dumps({"ratio_beside": ratios}))


def compare(name: str, broker: PostgresBroker, noop: dramatiq.Actor[..., None], jobs: int, waiting: int) -> float:
    job_type, later = CASES[name]
    alone = [measure(broker, noop, jobs) for _ in range(2)]
    gates.pause("all")
    store.run(OTHERS, job_type=job_type, later=later, waiting=waiting)
    PREPARE.get(name, lambda: None)()
    gates.resume("all")
    store.run("vacuum analyze job_queue")
    beside = [measure(broker, noop, jobs) for _ in range(4)]
    store.run("truncate job_queue cascade")
    store.run("update queue_state set closed = false")
    alone += [measure(broker, noop, jobs) for _ in range(2)]
    ratio = round(statistics.median(beside) / statistics.median(alone), 2)
    print(f"{name:16} {statistics.median(beside):>8.0f} {statistics.median(alone):>8.0f} {ratio:>6.2f}", flush=True)
    return ratio


#: What lies beside: its job type and when it is due.
CASES = {
    "closed gate": ("gated", "0"),
    "saturated type": ("limited", "0"),
    "paused type": ("plain", "0"),
    "dead": ("plain", "0"),
    "for tomorrow": ("plain", "1 day"),
}
PREPARE = {
    "closed gate": lambda: gates.pause("llm"),
    "paused type": lambda: gates.pause("type:plain"),
    "dead": lambda: store.run(
        "update job_queue set state = 'rejected', lease_token = gen_random_uuid() where state = 'queued'"
    ),
}


def actors() -> tuple[PostgresBroker, dramatiq.Actor[..., None]]:
    broker = PostgresBroker()

    @dramatiq.actor(broker=broker)
    def noop() -> None:
        DONE[0] += 1

    @dramatiq.actor(broker=broker, gate="llm")
    def gated() -> None:
        pass

    @dramatiq.actor(broker=broker, max_running=0)
    def limited() -> None:
        pass

    @dramatiq.actor(broker=broker)
    def plain() -> None:
        pass

    broker.job_types.publish()
    return broker, noop


def measure(broker: PostgresBroker, noop: dramatiq.Actor[..., None], jobs: int) -> float:
    """Jobs per second of the worker that runs, from the moment their type is released until the last one is written."""
    gates.pause("type:noop")
    broker.enqueue_many(noop.message() for _ in range(jobs))
    target, started = DONE[0] + jobs, time.perf_counter()
    gates.resume("type:noop")  # the bell rings

    until(lambda: DONE[0] >= target, timeout=120)
    rate = jobs / (time.perf_counter() - started)
    until(lambda: not broker.process.dispatcher.held, timeout=10)  # the last ends are written
    store.run("delete from job_queue where job_type = 'noop'")
    store.run("vacuum job_queue")
    return rate


if __name__ == "__main__":
    main()
