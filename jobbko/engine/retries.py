"""The one place that turns a failure into a retry, a wait, a dead letter or silence."""

from __future__ import annotations

import logging
import math
import traceback
from datetime import UTC, datetime
from typing import Any

import dramatiq
import psycopg2.errors
from dramatiq import Actor, Broker
from dramatiq.errors import Retry
from dramatiq.middleware import Interrupt, Shutdown, TimeLimitExceeded

from jobbko import settings, store
from jobbko.engine.interrupts import Cancelled
from jobbko.engine.job import Job
from jobbko.errors import Charged, GateClosed, GateFoundClosed, JobError, LeaseLost, Missing, Permanent, Throttled
from jobbko.store.gates import name_fault
from jobbko.store.queue import Ended

logger = logging.getLogger(__name__)

#: Seconds after which a job that lost its database connection is tried again.
RECONNECT = 5
#: Seconds; no wait between two attempts is longer.
LONGEST_BACKOFF = 7 * 24 * 3600


class Retries(dramatiq.Middleware):
    """Options: max_attempts (the failure with this number is dead), backoff (seconds before the second attempt,
    doubled for each further one), delays (seconds by kind of failure, where it is another; None is dead at once:
    {"invalid": 0, "timeout": 600, "content": None}), throws (exceptions that are dead at once). Dramatiq's max_retries,
    min_backoff and max_backoff (milliseconds) mean what they mean there."""

    @property
    def actor_options(self) -> set[str]:
        ours, dramatiqs = {"max_attempts", "backoff", "delays"}, {"max_retries", "min_backoff", "max_backoff"}
        return ours | dramatiqs | {"throws", "retry_when"}

    def before_declare_actor(self, broker: Broker, actor: Actor[Any, Any]) -> None:
        # A failure that was foreseen is one line in the log, not a traceback.
        actor.options.setdefault("throws", JobError)

    def after_process_message(
        self, broker: Broker, message: Job, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        if message.exception is None or message.lost or message.settled:
            return
        try:
            message.ended = self.verdict(message, message.exception, broker.get_actor(message.actor_name).options)
        except Exception:
            # An option or an exception of the job's own that cannot be asked. Recording a failure may never fail.
            logger.exception("%s: how it failed could not be judged; it counts as any other failure.", message)
            message.ended = failed(message, message.exception, settings.BACKOFF)
        message.lost = message.ended is None and isinstance(message.exception, LeaseLost)

    def verdict(self, job: Job, exception: BaseException, options: dict[str, Any]) -> Ended | None:
        """What is to be written for a job that raised; None if it counts as done or there is nothing to write."""
        match exception:
            case Missing() | LeaseLost():
                return None
            case Cancelled():
                return ended(job, exception, "rejected", outcome="cancelled", kind="cancelled", charge=0)
            case Shutdown():
                return refund(job, exception, 0, "shutdown")
            case Throttled() | GateClosed():
                return at_gate(job, exception, options)
            case _ if store.lost_connection(exception) or store.lost_connection(exception.__cause__ or exception):
                return refund(job, exception, RECONNECT, "database")
            case psycopg2.errors.InsufficientPrivilege():  # a row of another collection; see store.fence
                said = ended(job, exception, "rejected", outcome="dead", kind="permanent")
                said["error"] = ". ".join(filter(None, (exception.diag.message_primary, exception.diag.message_hint)))
                return said
            case Permanent():
                return ended(job, exception, "rejected", outcome="dead", kind=exception.kind)
            case _ if options["throws"] is not JobError and isinstance(exception, options["throws"]):
                return ended(job, exception, "rejected", outcome="dead", kind="permanent")
            case _ if (retry_when := options.get("retry_when")) and not retry_when(job.claimed.attempts, exception):
                return ended(job, exception, "rejected", outcome="dead", kind=kind_of(exception))
            case Retry(delay=milliseconds) if milliseconds is not None:
                return failed(job, exception, milliseconds / 1000)
        return failed(job, exception, delay_after(kind_of(exception), job.claimed.attempts + 1, options))


def failed(job: Job, exception: BaseException, delay: float | None) -> Ended:
    """Charged: again after `delay` seconds, or dead if it was the last attempt or there shall be none (None)."""
    if delay is None or job.claimed.attempts + 1 >= job.claimed.max_attempts:
        return ended(job, exception, "rejected", outcome="dead", kind=kind_of(exception))
    return ended(job, exception, "queued", outcome="retry", kind=kind_of(exception), delay=delay)


def refund(job: Job, exception: BaseException, delay: float | None, kind: str) -> Ended:
    """Not the job's fault: again after `delay` seconds (None: at once, or when its gate opens); it does not count."""
    return ended(job, exception, "queued", outcome="refunded", kind=kind, delay=delay, charge=0)


def at_gate(job: Job, exception: Throttled | GateClosed, options: dict[str, Any]) -> Ended:
    """Free of charge; it waits at the gate, and closes it unless it only found it closed."""
    name = str(exception.service if isinstance(exception, Throttled) else exception.gate)
    if wrong := name_fault(name):
        # A row of that name would pause other jobs, or nobody while this one ran round and round.
        said = failed(job, exception, delay_after("internal", job.claimed.attempts + 1, options))
        said["error"] = f"{message_of(exception)}; {wrong}"
        return said
    said = refund(job, exception, None, exception.kind)
    said["gate"] = name
    match exception:
        case Throttled(retry_after=seconds):
            said["reason"], said["seconds"] = "outage", sensible(seconds)
        case GateFoundClosed():
            pass
        case GateClosed(reason=reason, resume_at=at):
            said["reason"], said["until"] = reason, None if at is None else utc(at).isoformat()
    return said


def ended(
    job: Job,
    exception: BaseException,
    state: str,
    *,
    outcome: str,
    kind: str,
    charge: int = 1,
    delay: float | None = None,
) -> Ended:
    said = Ended(id=job.message_id, token=job.token, state=state, outcome=outcome, charge=charge, delay=delay)
    said["error"] = "cancelled" if outcome == "cancelled" else message_of(exception)
    said["cancelled"] = outcome == "cancelled"
    said["class"] = kind if isinstance(kind, str) else "internal"
    if isinstance(exception, Charged) and exception.service and not name_fault(exception.service):
        said["suspect"] = exception.service
    if not isinstance(exception, JobError | Interrupt):
        said["traceback"] = "".join(traceback.format_exception(exception))[-20_000:]
    return said


def delay_after(kind: str, failures: int, options: dict[str, Any]) -> float | None:
    """Seconds until the next attempt after a failure of this kind; None if there shall be none."""
    delays: dict[str, float | None] = options.get("delays") or {}
    if kind in delays:
        return delays[kind]
    return backoff(failures, options)


def backoff(failures: int, options: dict[str, Any]) -> float:
    """Seconds to wait after the n-th failure: 30, 60, 120, … unless the actor says otherwise."""
    first = options.get("backoff")
    if first is None and "min_backoff" in options:
        first = options["min_backoff"] / 1000
    longest = options["max_backoff"] / 1000 if "max_backoff" in options else LONGEST_BACKOFF
    return float(min((settings.BACKOFF if first is None else first) * 2 ** min(failures - 1, 40), longest))


def kind_of(exception: BaseException) -> str:
    match exception:
        case Charged(kind=kind):
            return kind
        case TimeLimitExceeded():
            return "timeout"
    return "internal"


def message_of(exception: BaseException) -> str:
    try:
        said = str(exception).strip()
    except Exception:
        return f"{type(exception).__name__} (it cannot say why)"
    if isinstance(exception, JobError) and said:
        return said
    return f"{type(exception).__name__}: {said}" if said else type(exception).__name__


def sensible(seconds: Any) -> float | None:
    """What a service asked for, if that is a number of seconds."""
    try:
        number = float(seconds)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at
