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
