"""Schedules and their ticks: a tick and its job are one transaction, and each tick is sent once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobbko import store
from jobbko.store import queue
from jobbko.store.queue import NewJob

sql = store.queries("schedules.sql")


@dataclass(frozen=True, slots=True)
class Known:
    """A schedule as some scheduler or person has left it, and the last of its ticks that was sent."""

    name: str
    cron: str
    timezone: str
    enabled: bool
    first_seen_at: datetime
    last_tick_at: datetime | None
    last_sent_at: datetime | None
    last_job_id: str | None
    last_status: str | None


def register(name: str, cron: str, timezone: str, now: datetime) -> None:
    """Make it known. If it is new, or its times have changed, nothing before `now` is made up for."""
    store.run(sql["register"], name=name, cron=cron, timezone=timezone, now=now)


def unsent(name: str, tick_at: datetime) -> bool | None:
    """Whether that tick is still to be sent; None if nobody knows the schedule."""
    found: bool | None = store.value(sql["unsent"], name=name, tick_at=tick_at)
    return found


def send(name: str, tick_at: datetime, job: NewJob) -> str | None:
    """Add the tick and its job, both or neither. The id of the job that runs for it; None if there is nothing to send:
    it has been sent, a later one has, or the schedule is disabled."""
    with store.transaction():
        store.rows(sql["lock"], name=name)
        if not unsent(name, tick_at):
            return None
        # An equal job that waits (or runs, if its type says so) will do the work of this tick.
        job_id = job["id"] if job["id"] in queue.add([job]) else queue.equal_waiting(job)
        store.run(sql["record"], name=name, tick_at=tick_at, job_id=job_id)
        return job_id or job["id"]


def set_enabled(name: str, cron: str, timezone: str, enabled: bool) -> bool:
    """Whether that is news. What would have been sent while it was disabled is not made up for."""
    return store.run(sql["set_enabled"], name=name, cron=cron, timezone=timezone, enabled=enabled) == 1


def known() -> dict[str, Known]:
    return {row.name: row for row in store.many(Known, sql["listing"])}
