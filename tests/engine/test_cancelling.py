"""What is cancelled stays cancelled, whatever it is doing just then."""

from __future__ import annotations

import threading

import dramatiq
import psycopg2
import pytest

from jobbko import settings, store
from jobbko.engine import completion
from jobbko.engine.interrupts import Cancelled
from jobbko.store import queue
from jobbko.testing.worker import until, working
from tests.engine.conftest import WAITING, failures, statuses


def test_a_waiting_job_can_be_cancelled_for_good(broker):
    # Bogdanp/dramatiq#235, #51
    ran = []

    @dramatiq.actor
    def work(n):
        ran.append(n)

    first, second = work.send(1), work.send_with_options(args=(2,), delay=100)
    for message in (first, second):
        assert store.value("select cancel_job(%(id)s)", id=message.message_id) is True
    work.send(3)
    with working(broker):
        until(lambda: ran == [3])
    assert statuses() == ["cancelled", "cancelled", "completed"]


@pytest.mark.parametrize("lease", [0.6, 300])
def test_a_running_job_can_be_cancelled_and_is_not_revived(broker, monkeypatch, lease):
    # Flared/dramatiq-abort#3, #30. With a long lease only the notification can be in time.
    monkeypatch.setattr(settings, "LEASE", lease)
    started = threading.Event()

    @dramatiq.actor
    def work():
        started.set()
        while True:
            threading.Event().wait(0.01)

    message = work.send()
    with working(broker):
        started.wait(5)
        assert store.value("select cancel_job(%(id)s)", id=message.message_id) is True
        until(lambda: statuses() == ["cancelled"])
    assert queue.unfinished() == 0


def test_a_cancelled_job_in_completion_is_cancelled_and_not_a_crash(broker):
    inside, go_on = threading.Event(), threading.Event()

    @dramatiq.actor
    def work():
        inside.set()
        while not go_on.is_set():
            try:
                go_on.wait(5)
            except Cancelled:
                continue  # a job that does not listen
        with completion():
            pass

    message = work.send()
    with working(broker):
        assert inside.wait(5)
        store.value("select cancel_job(%(id)s)", id=message.message_id)
        go_on.set()
        until(lambda: statuses() == ["cancelled"])
    assert failures() == [(1, "cancelled", "cancelled")]


def test_cancelling_waits_for_the_retry_that_is_just_being_written(broker, database):
    @dramatiq.actor
    def work():
        pass

    message = work.send()
    turn = queue.turn([], [], [], ["work"], 1, message.message_id, 30, None, False)
    other = psycopg2.connect(database)
    again = {"id": message.message_id, "token": turn.jobs[0].token, "state": "queued", "charge": 1, "delay": 60}
    with store.using(other):
        queue.turn([], [again], [], [], 0, message.message_id, 30, None, False)
    said = []
    cancels = threading.Thread(
        target=lambda: said.append(store.value("select cancel_job(%(id)s)", id=message.message_id))
    )
    cancels.start()
    until(lambda: store.value(WAITING) == 1)
    other.commit()
    cancels.join(10)
    other.close()
    assert said == [True]
    assert statuses() == ["cancelled"]
