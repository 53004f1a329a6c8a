"""`periodiq actors`, the real command, with our schedules."""

from __future__ import annotations

import os
import signal
import subprocess
import uuid

import pytest

import actors  # noqa: F401  every job declares itself
from broker import broker
from jobbko import store
from jobbko.cli._processes import scheduler_command
from jobbko.store import schedules
from jobbko.testing.worker import until
from tests.conftest import admin, sibling

pytestmark = pytest.mark.slow


def start(url: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        scheduler_command(),
        env={**os.environ, "DATABASE_URL": url, "TZ": "Australia/Sydney"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(scheduler: subprocess.Popen[str]) -> str:
    scheduler.kill()
    _, said = scheduler.communicate(timeout=30)
    return said


def test_starts_and_makes_up_for_the_night_that_it_missed_once(database):
    first = start(database)
    try:
        until(lambda: store.value("select count(*) from schedule") == len(broker.schedules.known), timeout=60)
    finally:
        said = end(first)
    assert "23 2 * * *" in said
    assert "filesystem_rescan" in said
    assert store.value("select count(*) from job_queue") == 0

    store.run("update schedule set first_seen_at = now() - interval '3 days'")
    both = [start(database), start(database)]
    try:
        until(lambda: store.value("select count(*) from job_queue") == len(broker.schedules.known), timeout=60)
        os.kill(both[0].pid, signal.SIGALRM)  # a wake-up too many
    finally:
        for scheduler in both:
            end(scheduler)
    # Once each, though it was missed three times, or, if it comes hourly, seventy times.
    assert sorted(store.rows("select job_type from job_queue")) == sorted((name,) for name in broker.schedules.known)
    tick = schedules.known()["filesystem_rescan"].last_tick_at
    assert store.value("select to_char(%(tick)s at time zone 'UTC', 'HH24:MI')", tick=tick) == "02:23"


def test_refuses_a_database_that_is_not_migrated_and_says_so(server):
    name = f"empty_{uuid.uuid4().hex[:8]}"
    admin(server, "create database {}", name)
    try:
        scheduler = start(sibling(server, name))
        _, said = scheduler.communicate(timeout=60)
    finally:
        admin(server, "drop database {} with (force)", name)
    assert scheduler.returncode == 3
    assert "Run `jobbko migrate`" in said
    assert "Traceback" not in said
