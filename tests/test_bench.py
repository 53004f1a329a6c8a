import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"


def last_line(script, *options):
    command = [sys.executable, BENCH / script, "--json", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


@pytest.mark.slow
def test_throughput_runs_without_the_peers():
    rates = last_line("throughput.py", "--only", "stub,jobbko", "--jobs", "200")["jobs_per_second"]

    assert list(rates) == ["jobbko", "dramatiq-pg", "dramatiq-postgres", "procrastinate", "pgqueuer", "stub"]
    assert rates["jobbko"] > 0
    assert rates["stub"] > 0
    assert rates["pgqueuer"] is None


@pytest.mark.slow
def test_enqueue_runs():
    rates = last_line("enqueue.py", "--jobs", "200")["enqueued_per_second"]

    assert all(rate > 0 for rate in rates.values())


@pytest.mark.slow
def test_latency_runs():
    found = last_line("latency.py", "--jobs", "10")["start_latency_ms"]

    assert found["doorbell"]["p50"] > 0
    assert found["polling"]["p50"] > 0


@pytest.mark.slow
def test_the_ledger_agrees_with_who_sold_and_no_budget_is_exceeded_under_fire():
    found = last_line("ledger.py", "--calls", "300")

    assert found["calls"] >= 300
    assert found["rows_exact"] > 0
    assert found["ledger_usd"] == found["account_usd"]
    assert (found["rows_wrong"], found["estimates_below_truth"], found["calls_without_row"]) == (0, 0, 0)
    assert found["budget_calls"] <= 100
    assert found["budget_taken_usd"] == 1.0


@pytest.mark.slow
def test_recommend_runs():
    found = last_line("recommend.py", "--tracks", "3000")

    assert found["median_ms"] > 0
    assert 300 <= found["candidates"] <= 400
