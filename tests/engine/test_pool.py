"""The pool of connections, when threads are interrupted and processes forked."""

from __future__ import annotations

import threading

from jobbko import settings, store
from jobbko.engine.interrupts import Cancelled
from jobbko.store import pool


def test_the_pool_survives_threads_that_are_interrupted_at_any_moment(database, monkeypatch):
    from dramatiq.middleware.threading import raise_thread_exception

    monkeypatch.setattr(settings, "POOL_SIZE", 2)
    stop = threading.Event()

    def use():
        while not stop.is_set():
            try:
                for _ in range(50):
                    store.value("select 1")
            except Cancelled:
                pass

    threads = [threading.Thread(target=use, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for n in range(300):
        raise_thread_exception(threads[n % 3].ident, Cancelled)
        stop.wait(0.002)
    stop.set()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
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
