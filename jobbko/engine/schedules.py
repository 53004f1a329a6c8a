"""Periodic jobs under periodiq's command: it asks when, the store says whether, and each tick is sent once.

periodiq's own middleware is not needed: it would drop what runs later than half a minute after its tick, retries
included. A late run is a run.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import dramatiq
import psycopg2
from dramatiq import Actor, Message
from dramatiq.middleware import MiddlewareError

from jobbko.engine import readiness
from jobbko.engine.cron import Cron
from jobbko.engine.database_errors import connection_lost
from jobbko.engine.new_job import new_job
from jobbko.store import schedules
from jobbko.store.queue import NewJob

if TYPE_CHECKING:
    from jobbko.engine.broker import PostgresBroker

logger = logging.getLogger(__name__)

LOOK_AGAIN = timedelta(minutes=1)


class Unschedulable(MiddlewareError, ValueError):
    """A job that cannot be periodic as it is declared. (Dramatiq swallows other errors at that place.)"""


@dataclass
class Schedule:
    """A job's cron under the job's name, as periodiq's Scheduler takes it. One that is down for a while sends the
    latest of the ticks it missed, and no other."""

    name: str
    cron: Cron
    #: Whether this process has made it known.
    known: bool = field(default=False, compare=False)

    def validate(self, now: datetime) -> bool:
        """Whether a tick is to be sent now: the latest until now has not been, and nobody has disabled it.

        Waits for a database that is away; if it stays away the process ends with a reason, to be started again.
        """
        return readiness.patiently(lambda: self._unsent(now))

    def next_valid_date(self, now: datetime) -> datetime:
        """When to look again: at the next tick, and soon in any case. periodiq sleeps by a timer, which does not know
        of a machine that was suspended, a clock that was put right, or a schedule that was enabled meanwhile."""
        return min(self.cron.next_valid_date(now), now + LOOK_AGAIN)

    def _unsent(self, now: datetime) -> bool:
        if not self.known:
            readiness.prepare()
            self.register(now)
        tick = self.cron.latest(now)
        return tick is not None and bool(schedules.unsent(self.name, tick))

    def register(self, now: datetime) -> None:
        schedules.register(self.name, self.cron.spec, self.cron.timezone, now)
        self.known = True

    def __str__(self) -> str:
        return str(self.cron)


class Schedules(dramatiq.Middleware):
    """Option: periodic, a cron(…). periodiq's own cron() is taken as well, with our arithmetic and in UTC."""

    def __init__(self) -> None:
        self.known: dict[str, Schedule] = {}

    @property
    def actor_options(self) -> set[str]:
        return {"periodic"}

    def before_declare_actor(self, broker: PostgresBroker, actor: Actor[Any, Any]) -> None:
        cron = actor.options.get("periodic")
        if cron is None:
            return
        signature = broker.job_types.known[actor.actor_name].signature
        if signature.required:
            raise Unschedulable(
                f"{signature} is periodic, and nobody is there to give it {', '.join(signature.required)}"
            )
        if not isinstance(cron, Cron):
            try:
                cron = Cron(str(cron))
            except ValueError as error:
                raise Unschedulable(f"{actor.actor_name}: {error}") from None
        self.known[actor.actor_name] = actor.options["periodic"] = Schedule(actor.actor_name, cron)

    def send(self, broker: PostgresBroker, message: Message[Any]) -> Message[Any]:
        """A tick's message as periodiq sends it becomes a job, unless the tick has been sent: by another scheduler, or
        by this one before it was started again.

        While the last tick's job still waits no second one is added (option dedupe=False: it is). A tick that Postgres
        refuses stays unsent and is tried again with the next; it does not stop the other schedules.
        """
        at = datetime.fromisoformat(message.options["scheduled_at"]).astimezone(UTC)
        schedule = self.known.get(message.actor_name)
        tick = schedule.cron.latest(at) if schedule is not None else at.replace(second=0, microsecond=0)
        if tick is None:
            return message
        name = message.actor_name
        job = new_job(broker, message, None)
        # Which tick it was is in schedule_tick; periodiq's middleware, where it is used, would drop what runs late.
        kept = {name: value for name, value in (job["options"] or {}).items() if name != "scheduled_at"}
        job["options"] = kept or None
        if schedule is not None and broker.get_actor(name).options.get("dedupe", True):
            job["dedupe"] = True
        try:
            sent = readiness.patiently(lambda: _send(name, schedule, tick, job))
        except psycopg2.Error as error:
            if connection_lost(error):
                raise
            logger.exception("%s at %s could not be sent.", name, tick)
            return message
        if sent is None:
            logger.info("%s at %s has been sent already.", name, tick)
            return message
        return message.copy(message_id=sent)


def _send(name: str, schedule: Schedule | None, tick: datetime, job: NewJob) -> str | None:
    if schedules.unsent(name, tick) is None:  # sent by hand before any scheduler has seen it
        cron = Cron("* * * * *") if schedule is None else schedule.cron
        schedules.register(name, cron.spec, cron.timezone, tick)
    return schedules.send(name, tick, job)
