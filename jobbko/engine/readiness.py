"""A process of ours starts only on a database that fits it: it waits for the server, or ends and says why."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import NoReturn, TypeVar

import psycopg2

from jobbko import settings
from jobbko.errors import UserError
from jobbko.store import migrate

T = TypeVar("T")
logger = logging.getLogger(__name__)

#: Seconds that a process waits for its database; then its supervisor starts it again.
PATIENCE = 60
#: Its exit code then.
REFUSED = 3


def prepare() -> None:
    """See that the schema fits. The embedded database is brought up to date; somebody's own is not."""
    if migrate.pending():
        if settings.DATABASE_URL:
            refuse("This database is not migrated to this version. Run `jobbko migrate`.")
        migrate.migrate()


def patiently(action: Callable[[], T]) -> T:
    """What the action answers, once the server can be reached; the end of the process if that takes too long."""
    deadline = time.monotonic() + PATIENCE
    waiting = False
    with _stoppable():
        while True:
            try:
                answer = action()
                if waiting:
                    logger.info("The database is there again.")
                return answer
            except UserError as error:
                refuse(str(error))
            except (psycopg2.OperationalError, psycopg2.InterfaceError) as error:
                if time.monotonic() > deadline:
                    refuse(f"The database cannot be reached: {str(error).strip()}")
                if not waiting:
                    logger.warning("Waiting for the database: %s", str(error).strip())
                    waiting = True
                time.sleep(1)


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """A TERM ends a process that waits here. Dramatiq would only make a note of it and wait on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def refuse(reason: str) -> NoReturn:
    """Dramatiq and periodiq would swallow any other exception, or call it a bug of theirs."""
    logger.critical(reason)
    raise SystemExit(REFUSED)
