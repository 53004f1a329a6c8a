"""What each job is, as declared on its actor: the options, and the row that every way in checks against."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import dramatiq
from dramatiq import Actor

from jobbko.engine.signature import Signature
from jobbko.store import queue
from jobbko.store.gates import name_fault

#: Normal. What Dramatiq calls 0 is "not stated".
DEFAULT_PRIORITY = 5
DEFAULT_MAX_ATTEMPTS = 5
#: Where only the jobs of one collection are limited.
UNLIMITED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class JobType:
    signature: Signature
    queue_name: str
    priority: int
    max_attempts: int
    gates: list[str]
    dedupe: bool
    until_done: bool
    every_collection: bool
    limit: tuple[str, tuple[int, int | None]] | None

    def row(self) -> dict[str, Any]:
        """As the table job_type has it."""
        said = asdict(self)
        signature, limit = said.pop("signature"), said.pop("limit")
        return {**said, **signature, "limit_name": limit and limit[0]}


class JobTypes(dramatiq.Middleware):
    """Options: gates (names of outside dependencies; gate for a single one), dedupe (True: at most one equal job waits;
    "until_done": nor while one runs), max_running (over all workers), max_running_per_collection, limit (a name
    shared by several jobs; goes with one of the two), every_collection (True: it writes into each, and not only into
    its own; users of the API may not send it)."""

    def __init__(self) -> None:
        self.known: dict[str, JobType] = {}

    @property
    def actor_options(self) -> set[str]:
        limits = {"max_running", "max_running_per_collection", "limit"}
        return limits | {"gate", "gates", "dedupe", "every_collection"}

    def add(self, actor: Actor[Any, Any]) -> None:
        """Raises ValueError for an option that no job can have: one such row would keep all from being published."""
        options = actor.options
        check_priority(actor.actor_name, actor.priority)
        if max_attempts(options) < 1:
            raise ValueError(f"{actor.actor_name}: max_attempts={max_attempts(options)} must be at least 1")
        most, each = options.get("max_running"), options.get("max_running_per_collection")
        if any(given is not None and int(given) < 0 for given in (most, each)):
            raise ValueError(f"{actor.actor_name}: max_running={most or each} must not be negative")
        if isinstance(options.get("gates"), str):
            raise ValueError(f"{actor.actor_name}: gates is a list of names; for a single one write gate=…")
        needed = sorted({*options.get("gates", ()), *filter(None, [options.get("gate")])})
        if wrong := next(filter(None, map(name_fault, needed)), None):
            raise ValueError(f"{actor.actor_name}: {wrong}")
        self.known[actor.actor_name] = JobType(
            signature=Signature.of(actor.actor_name, actor.fn),
            queue_name=actor.queue_name,
            priority=actor.priority or DEFAULT_PRIORITY,
            max_attempts=max_attempts(options),
            gates=needed,
            dedupe=bool(options.get("dedupe", False)),
            until_done=options.get("dedupe") == "until_done",
            every_collection=bool(options.get("every_collection", False)),
            limit=None
            if most is None and each is None
            else (options.get("limit") or actor.actor_name, (UNLIMITED if most is None else most, each)),
        )
        # Dramatiq's heap would sort by the actor's priority, which knows nothing of the row's. With one priority for
        # all it sorts by the messages themselves, and they know their place (Job.__lt__).
        actor.priority = 0

    def publish(self) -> None:
        limits = dict(type.limit for type in self.known.values() if type.limit is not None)
        queue.publish([type.row() for type in self.known.values()], limits)


def check_priority(name: str, priority: int) -> None:
    """Raises ValueError for what the column cannot hold."""
    if not -32768 <= priority <= 32767:
        raise ValueError(f"{name}: priority {priority} must be between -32768 and 32767; 10 is urgent, 1 background")


def max_attempts(options: dict[str, Any]) -> int:
    """From our own option, or from Dramatiq's max_retries, which does not count the first attempt."""
    if (attempts := options.get("max_attempts")) is not None:
        return int(attempts)
    if (retries := options.get("max_retries")) is not None:
        return int(retries) + 1
    return DEFAULT_MAX_ATTEMPTS
