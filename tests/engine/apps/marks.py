"""An application whose jobs leave marks in a table; run by the real `dramatiq` command in the tests."""

from __future__ import annotations

import os
import signal
import sys
import threading

import dramatiq

from jobbko import store
from jobbko.engine import PostgresBroker

broker = PostgresBroker()
dramatiq.set_broker(broker)


def mark(text: str) -> None:
    store.run("insert into mark (text, pid) values (%(text)s, %(pid)s)", text=text, pid=os.getpid())


@dramatiq.actor
def short(n):
    mark(f"short {n}")


@dramatiq.actor
def steady(n, seconds=0.05):
    threading.Event().wait(seconds)
    mark(f"steady {n}")


@dramatiq.actor
def long(n, seconds=1.5):
    mark(f"start {n}")
    threading.Event().wait(seconds)
    mark(f"end {n}")


@dramatiq.actor
def killer():
    mark("killer")
    os.kill(os.getpid(), signal.SIGKILL)


@dramatiq.actor
def thread_killer():
    mark("thread_killer")
    acknowledge = broker.process.ends

    def end_the_thread(job):  # as an interrupt does that comes a moment too late
        broker.process.ends = acknowledge
        sys.exit()

    broker.process.ends = end_the_thread


@dramatiq.actor
def first(n):
    mark(f"first {n}")
    return n


@dramatiq.actor
def second(n):
    mark(f"second {n}")
