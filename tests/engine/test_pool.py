"""The pool of connections, when threads are interrupted and processes forked."""

from __future__ import annotations

import sys
import threading

from jobbko import settings, store
from jobbko.engine.interrupts import Cancelled
from jobbko.store import pool


def test_the_pool_survives_threads_that_are_interrupted_at_any_moment(database, monkeypatch):
    from dramatiq.middleware.threading import raise_thread_exception

    monkeypatch.setattr(settings, "POOL_SIZE", 2)
    monkeypatch.setattr(threading, "excepthook", lambda ended: deaths.append(ended.exc_type))
    # Some are hit before they run, or when they have run: then it is nobody's exception.
    monkeypatch.setattr(sys, "unraisablehook", lambda ended: deaths.append(ended.exc_type))
    deaths, stop = [], threading.Event()

    def use():
        while not stop.is_set():
            store.value("select 1")

    def started():
        thread = threading.Thread(target=use, daemon=True)
        thread.start()
        return thread

    threads = [started() for _ in range(3)]
    for n in range(200):
        raise_thread_exception(threads[n % 3].ident, Cancelled)
        stop.wait(0.002)
        threads = [thread if thread.is_alive() else started() for thread in threads]
    stop.set()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    assert len(deaths) > 50
    assert set(deaths) == {Cancelled}
    assert store.value("select 1") == 1


def test_an_answered_pool_is_per_process(database):
    store.value("select 1")
    import os

    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if store.value("select 2") == 2 and len(pool._pools) == 2 else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.value("select 3") == 3
