"""`jobbko` in processes of their own: scan, up, worker, from a strange folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jobbko import settings, store
from jobbko.demo.samples import render
from jobbko.testing.worker import until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def music(tmp_path_factory):
    folder = tmp_path_factory.mktemp("music")
    render(folder)
    return folder


@pytest.fixture
def environment(database, tmp_path):
    return {**os.environ, "DATABASE_URL": settings.DATABASE_URL, "JOBBKO_DATA_DIR": str(tmp_path), "JOBBKO_LEASE": "2"}


def jobbko(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from jobbko.cli import main; main()", *arguments]


def test_scan_brings_every_file_through_the_queue(music, environment, tmp_path):
    (tmp_path / "actors").mkdir()  # somebody's own folder of that name is not in the way
    done = subprocess.run(
        jobbko("scan", str(music), "--json"), env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )

    found = json.loads(done.stdout)
    assert found["scan"]["seen"] == 8
    assert sorted(track["status"] for track in found["tracks"]) == ["ok"] * 7 + ["undecodable"]
    assert all(track["bpm"] and track["cover"] for track in found["tracks"] if track["status"] == "ok")
    assert next(track for track in found["tracks"] if track["status"] != "ok")["reason"]

    again = subprocess.run(jobbko("scan", str(music)), env=environment, capture_output=True, text=True, check=True)
    assert "8 unchanged" in again.stdout
    assert store.value("select count(*) from job_queue where job_type = 'audio_analysis'") == 8


def test_up_starts_a_worker_and_the_scheduler_again_when_they_die_and_ends_in_peace(environment):
    up = subprocess.Popen(
        jobbko("up", "--no-local-ai"), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        until(lambda: store.value("select count(*) from worker where stopped_at is null") == 1, timeout=30)
        worker, scheduler = sorted(children(up.pid), key=lambda pid: b"periodiq" in command_of(pid))
        assert b"dramatiq" in command_of(worker)
        assert b"periodiq" in command_of(scheduler)
        for pid in (worker, scheduler):
            os.killpg(pid, signal.SIGKILL)
        until(lambda: store.value("select count(*) from worker") == 2, timeout=30)
        until(lambda: len(children(up.pid)) == 2 and worker not in children(up.pid), timeout=30)
        up.terminate()
        assert up.wait(timeout=60) == 0
        assert store.value("select count(*) from worker where stopped_at is not null") == 1
    finally:
        up.kill()
        said = up.stdout.read()
        up.stdout.close()
    assert "ended with code -9" in said


def test_worker_passes_its_options_on(environment):
    options = ("--max-concurrent", "2", "--poll-interval", "250ms", "--types", "audio_analysis")
    worker = subprocess.Popen(jobbko("worker", *options), env=environment, stderr=subprocess.DEVNULL)
    try:
        until(lambda: store.value("select count(*) from worker") == 1, timeout=30)
        assert store.rows("select threads, job_types from worker") == [(2, ["audio_analysis"])]
        worker.terminate()
        assert worker.wait(timeout=30) == 0
    finally:
        worker.kill()


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def command_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()
