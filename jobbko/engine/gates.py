"""What the engine does at a gate: ask before a request, and tell people of a pause, once."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from jobbko.engine.job import running
from jobbko.errors import GateFoundClosed
from jobbko.store import gates

logger = logging.getLogger(__name__)

#: Seconds after which a service's moment is missed, on a machine that is very busy, and how often another is taken.
LATE = 0.1
TRIES = 3

#: Sends one line to whoever wants to know; filled by broker.py, which knows how.
announce: Callable[[str], None] | None = None


def permit(service: str) -> None:
    """Before a request: wait for the service's turn, which all workers on all hosts share.

    GateFoundClosed if its gate is closed, so that its jobs wait instead of asking in vain.
    """
    job = running()
    if (found := gates.closed(service, job.message_id if job else None)) is not None:
        raise GateFoundClosed(found.gate, found.reason, found.resume_at)
    for _ in range(TRIES):
        seconds = gates.take(service)
        if seconds <= 0:
            return
        asked_at = time.monotonic()
        time.sleep(seconds)
        if time.monotonic() - asked_at - seconds < LATE:
            return  # else the moment is over, and going now would be too close to whoever has the next


def announce_pauses() -> None:
    """Tell of new pauses. In a thread of its own: a slow or broken receiver must not hold up the leases."""
    if announce is None:
        return
    for pause in gates.to_announce():
        threading.Thread(target=_tell, args=(pause,), name="announcement", daemon=True).start()


def _tell(pause: gates.Closed) -> None:
    until = f" until {pause.resume_at:%Y-%m-%d %H:%M} UTC" if pause.resume_at else "; it needs somebody to resume it"
    try:
        assert announce is not None
        announce(f"Jobbkø: {pause.gate} is paused ({pause.reason}){until}.")
    except Exception:
        logger.warning("The pause of %s could not be announced.", pause.gate, exc_info=True)
