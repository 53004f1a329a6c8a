"""No-op jobs per second of Jobbkø and others on one Postgres: python bench/throughput.py [--json] [--rounds 3]."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import peers
import psycopg2

from jobbko.testing.postgres import temporary_server

#: As Postgres comes, for what is promised to be kept is really written.
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
THREADS = 8
JOBS = 20_000
#: dramatiq-pg slows down with what waits; this is the number that is kinder to it.
FEWER = {"dramatiq-pg": 5_000}
#: Seconds, after which a side has not finished.
LONGEST = 120

SIDES = ("jobbko", "dramatiq-pg", "dramatiq-postgres", "procrastinate", "pgqueuer", "stub")


@dataclass(frozen=True)
class Result:
    jobs: int
    #: None: not finished.
    seconds: float | None
    settings: dict[str, Any]

    @property
    def rate(self) -> float | None:
        return None if self.seconds is None else round(self.jobs / self.seconds, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--only", default=",".join(SIDES), help="sides, separated by commas")
    parser.add_argument("--jobs", type=int, help=f"waiting jobs (default {JOBS}, dramatiq-pg {FEWER['dramatiq-pg']})")
    parser.add_argument("--rounds", type=int, default=1, help="so many rounds of all sides; the median counts")
    options = parser.parse_args()
    chosen = options.only.split(",")
    if unknown := set(chosen) - set(SIDES):
        parser.error(f"no such side: {', '.join(sorted(unknown))} (there are {', '.join(SIDES)})")

    rates: dict[str, list[float | None]] = {name: [] for name in SIDES}
    with temporary_server(**DURABLE) as server:
        print(f"{version(server)}, fsync and synchronous_commit on; {THREADS} threads; {os.cpu_count()} processors\n")
        print(f"{'':18} {'jobs':>7} {'seconds':>8} {'jobs/s':>8}  settings")
        for name in chosen * options.rounds:
            result = run(name, server, options.jobs or FEWER.get(name, JOBS))
            rates[name].append(result.rate)
            print(row(name, result), flush=True)
    if options.json:
        print(json.dumps({"jobs_per_second": {name: median(rates[name]) for name in SIDES}}))


def run(name: str, server: str, jobs: int) -> Result:
    """One side on a database of its own; its worker is released when its jobs wait and Postgres is at rest."""
    database = f"bench_{name.replace('-', '_')}"
    execute(server, f"create database {database}")
    url = server.replace("/postgres?", f"/{database}?")
    script = peers.HERE / "sides" / f"{name.replace('-', '_')}_side.py"
    with subprocess.Popen(
        [peers.python(name), script, url, str(jobs), str(THREADS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as side:
        assert side.stdout
        if side.stdout.readline().strip() != "ready":
            sys.exit(f"{name} did not get ready")
        execute(url, "vacuum analyze")
        execute(url, "checkpoint")
        try:
            report, _ = side.communicate("go\n", timeout=LONGEST)
        except subprocess.TimeoutExpired:
            side.kill()
            result = Result(jobs, None, {})
        else:
            if side.returncode != 0:
                sys.exit(f"{name} failed")
            told = json.loads(report.splitlines()[-1])
            result = Result(jobs, told["seconds"], told["settings"])
    execute(server, f"drop database {database} with (force)")
    return result


def median(rates: list[float | None]) -> float | None:
    finished = [rate for rate in rates if rate is not None]
    return round(statistics.median(finished), 1) if finished and len(finished) == len(rates) else None


def execute(url: str, statement: str) -> None:
    conn = psycopg2.connect(url)
    conn.autocommit = True
    with conn.cursor() as cursor:
        cursor.execute(statement)
    conn.close()


def version(server: str) -> str:
    conn = psycopg2.connect(server)
    number = conn.info.server_version
    conn.close()
    return f"Postgres {number // 10000}.{number % 10000}"


def row(name: str, result: Result) -> str:
    settings = ", ".join(f"{key}={value}" for key, value in result.settings.items())
    if result.seconds is None:
        return f"{name:18} {result.jobs:>7} {'>' + str(LONGEST):>8} {'—':>8}  not finished"
    return f"{name:18} {result.jobs:>7} {result.seconds:>8.2f} {result.rate:>8,.0f}  {settings}"


if __name__ == "__main__":
    main()
