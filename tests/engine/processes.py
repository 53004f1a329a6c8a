"""Real worker processes, started and ended as a deployment does."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobbko import settings, store

ROOT = Path(__file__).parents[2]
APP = "tests.engine.apps.marks"


@contextlib.contextmanager
def dramatiq_worker(*options: str, app: str = APP, threads: int = 2, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """`dramatiq <app>` with one process; whatever is left of it at the end is killed."""
    worker = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "dramatiq",
            app,
            "--processes",
            "1",
            "--threads",
            str(threads),
            *("--worker-fork-timeout", "2000"),
            *options,
        ],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": settings.DATABASE_URL, "JOBBKO_LEASE": "1", "JOBBKO_BACKOFF": "0.05", **env},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield worker
    finally:
        kill(worker)


def kill(worker: subprocess.Popen[bytes]) -> None:
    """-9, master and children, like a power cut."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()


def stop(worker: subprocess.Popen[bytes]) -> int:
    """TERM to the main process, as systemd's KillMode=mixed does; its exit code."""
    worker.terminate()
    return worker.wait(timeout=30)


def marks() -> list[str]:
    return [text for (text,) in store.rows("select text from mark order by n")]


@pytest.fixture
def mark_table(database: str) -> None:
    store.run(
        "create table mark (n bigint generated always as identity, text text, pid integer, at timestamptz"
        " default clock_timestamp())"
    )
