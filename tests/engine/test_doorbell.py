"""The doorbell wakes a worker, and its noise keeps no worker from looking."""

from __future__ import annotations

import threading

import dramatiq

from jobbko import settings, store
from jobbko.store import queue
from jobbko.testing.worker import until, working


def test_a_doorbell_that_rings_during_a_turn_is_heard(broker, monkeypatch):
    ran, real, late = [], queue.turn, [True]

    @dramatiq.actor
    def work(n):
        ran.append(n)

    def turn(*args):
        answer = real(*args)
        if late:
            late.clear()
            with store.using(None):
                work.send(1)  # too late for this turn to see
            store.value("select 1")  # the notification arrives with an answer, not on an idle socket
        return answer

    monkeypatch.setattr(settings, "POLL_INTERVAL", 30)
    monkeypatch.setattr(queue, "turn", turn)
    with working(broker):
        until(lambda: ran == [1], timeout=5)


def test_a_thousand_stray_doorbells_do_not_keep_the_worker_from_looking(broker):
    # goauthentik/authentik#26152
    ran, stop = [], threading.Event()

    @dramatiq.actor
    def work(n):
        ran.append(n)

    def ring_all_the_time():
        while not stop.is_set():
            queue.ring()

    ringer = threading.Thread(target=ring_all_the_time)
    with working(broker):
        ringer.start()
        try:
            for n in range(20):
                work.send(n)
            until(lambda: len(ran) == 20, timeout=10)
        finally:
            stop.set()
            ringer.join()
