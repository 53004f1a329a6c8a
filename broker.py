"""Where the parts meet: the broker, its middleware in order, and the decorators that jobs and flows use.

from broker import actor, completion, cron, follows, report
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

import dramatiq

from jobbko import clients
from jobbko.ai import calls
from jobbko.clients import notify
from jobbko.engine import PostgresBroker, attempt, collection, completion, gates, report
from jobbko.engine.cron import Cron
from jobbko.engine.job import running

P = ParamSpec("P")
R = TypeVar("R")

# A client asks before each request, and does not know whom; the engine tells of pauses, and does not know how.
clients.permit = gates.permit
gates.announce = notify.tell


def _caller() -> calls.Caller:
    """For whom a model is called: the job that the calling thread runs, or nobody."""
    if (job := running()) is None:
        return calls.Caller()
    number = job.claimed.attempts + 1
    return calls.Caller(job.message_id, job.actor_name, number, job.claimed.collection)


calls.caller = _caller

broker = PostgresBroker()
dramatiq.set_broker(broker)

#: `periodic=cron("23 2 * * *", timezone="Europe/Oslo")`: when the scheduler sends the job; UTC if no zone is named.
cron = Cron

#: `@follows(job)`: what comes after a job that was started alone.
follows = broker.follows


@overload
def actor(fn: Callable[P, R], /) -> dramatiq.Actor[P, R]: ...
@overload
def actor(**options: Any) -> Callable[[Callable[P, R]], dramatiq.Actor[P, R]]: ...
def actor(fn: Callable[P, R] | None = None, /, **options: Any) -> Any:
    """Dramatiq's own decorator. Taken from here, it cannot run before the broker above is set.

    priority: 10 user-facing, 7 high, 5 normal (default), 1 background; higher first. Further options: max_attempts,
    backoff (seconds), dedupe, gates, max_running, limit, periodic=cron("23 2 * * *"), and Dramatiq's time_limit (ms).
    """
    return dramatiq.actor(fn, broker=broker, **options) if fn else dramatiq.actor(broker=broker, **options)


__all__ = ["actor", "attempt", "broker", "collection", "completion", "cron", "follows", "report"]
