"""Exceptions that arrive in a running job from outside, between two lines of its code."""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING

from dramatiq.middleware import Interrupt
from dramatiq.middleware.threading import raise_thread_exception

if TYPE_CHECKING:
    from jobbko.engine.job import Job


class Cancelled(Interrupt):
    """Somebody cancelled the job, or another worker has it now: stop, nothing more can be written for it."""


def interrupt(job: Job) -> None:
    """Raise Cancelled in the job's function, if it is in that, and once: a second one would cut short its cleaning up.

    A job that waits inside a C call hears of it afterwards.
    """
    with job.lock:
        if job.thread is not None and not (job.completing or job.settled or job.interrupted):
            job.interrupted = True
            raise_thread_exception(job.thread, Cancelled)


def withdraw_interrupt() -> None:
    """Take back what was sent to the calling thread and has not arrived."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threading.get_ident()), None)
