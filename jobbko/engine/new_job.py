"""A Dramatiq message becomes a row of the queue."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from uuid import UUID

from dramatiq import Message

from jobbko.engine.job import Job, running
from jobbko.engine.job_types import (
    DEFAULT_MAX_ATTEMPTS,
    DEFAULT_PRIORITY,
    JobType,
    check_priority,
    max_attempts,
)
from jobbko.engine.signature import PayloadRefused, check_size
from jobbko.store.queue import NewJob

if TYPE_CHECKING:
    from jobbko.engine.broker import PostgresBroker

#: A pipeline may be as long as this.
MOST_STEPS = 200
#: As Dramatiq writes it; any other way of writing one is made this.
_UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
#: Options of a message that are columns of the queue; all others are kept as they are.
_COLUMNS = {
    *("priority", "collection", "max_attempts", "subject", "tell", "eta"),
    *("dedupe_key", "debounce", "rank", "until_done"),
}


def new_job(broker: PostgresBroker, message: Message[Any], delay: float | None) -> NewJob:
    """The row; delay in milliseconds. Raises PayloadRefused for arguments that do not fit, ValueError for a bad id."""
    job_type = broker.job_types.known.get(message.actor_name)
    options = message.options
    if job_type is None:  # an actor of another program: a worker that knows it will look
        payload, rest = message.kwargs, list(message.args)
        check_size(message.actor_name, payload, rest)
    else:
        payload, rest = job_type.signature.bind(message.args, message.kwargs)
    kept = {name: value for name, value in options.items() if name not in _COLUMNS}
    new = NewJob(
        id=_uuid(message.message_id),
        job_type=message.actor_name,
        payload=payload,
        queue_name=message.queue_name,
        priority=int(options.get("priority") or (job_type.priority if job_type else DEFAULT_PRIORITY)),
        max_attempts=_max_attempts(options, job_type),
        collection=str(options["collection"]) if "collection" in options else _collection_of(running()),
    )
    if rest:
        new["args"] = rest
    if kept:
        new["options"] = _json(message, kept)
    if delay:
        new["delay"] = delay / 1000
    if job_type is not None and job_type.gates:
        new["gates"] = job_type.gates
    if options.get("tell"):
        new["tell"] = True
    if "subject" in options:
        new["subject"] = str(options["subject"])
    check_priority(message.actor_name, new["priority"])
    _set_equality(new, options, job_type)
    if (branch := _branch(message)) is not None:
        new["barrier"], new["branch"] = branch
    return new


def _set_equality(new: NewJob, options: dict[str, Any], job_type: JobType | None) -> None:
    """What makes it equal to another job, and what happens then."""
    if "dedupe_key" in options:
        new["dedupe_key"] = str(options["dedupe_key"])
    elif job_type is not None and job_type.dedupe:
        new["dedupe"] = True
        new["following"] = _following(options.get("pipe_target"))
    else:
        return
    if options.get("until_done", job_type is not None and job_type.until_done):
        new["until_done"] = True
    if "rank" in options:
        new["rank"] = int(options["rank"])
    if options.get("debounce"):
        new["debounce"] = True


def next_step(parent: Job, message: Message[Any], delay: float | None) -> NewJob:
    """The row of a message that follows `parent`: same flow, same collection unless it names its own."""
    new = new_job(parent.broker, message, delay)
    target = parent.options.get("pipe_target")
    new["parent_id"] = parent.message_id
    new["flow_id"] = parent.claimed.flow_id
    new["step"] = parent.claimed.step + 1
    new["in_flow"] = target is not None and target["message_id"] == message.message_id
    return new


def _max_attempts(options: dict[str, Any], job_type: JobType | None) -> int:
    if options.keys() & {"max_attempts", "max_retries"}:
        return max(1, max_attempts(options))
    return job_type.max_attempts if job_type else DEFAULT_MAX_ATTEMPTS


def _branch(message: Message[Any]) -> tuple[str, str] | None:
    """The fan-in that waits for this message's branch, and the branch's last step (`group` writes both into that)."""
    last, options, steps = message.message_id, message.options, 1
    while (target := options.get("pipe_target")) is not None:
        last, options, steps = target["message_id"], target["options"], steps + 1
        if steps > MOST_STEPS:
            # Each step lies inside the one before it, and JSON that is nested too deep can be read by nobody.
            raise PayloadRefused(f"{message.actor_name}: a pipeline has at most {MOST_STEPS} steps")
    barrier = options.get("group_completion_uuid")
    return None if barrier is None else (barrier, last)


def _collection_of(sender: Job | None) -> str | None:
    return None if sender is None else sender.claimed.collection


def _following(step: dict[str, Any] | None) -> str | None:
    """What makes two flows equal after their first step, so that a lone job never takes the place of a flow."""
    steps = []
    while step:
        steps.append([step["actor_name"], list(step["args"]), step["kwargs"]])
        step = step["options"].get("pipe_target")
    return json.dumps(steps, sort_keys=True) if steps else None


def _json(message: Message[Any], options: dict[str, Any]) -> dict[str, Any]:
    try:
        json.dumps(options)
    except (TypeError, ValueError) as error:
        raise PayloadRefused(f"{message.actor_name}: an option cannot be written as JSON: {error}") from None
    return options


def _uuid(message_id: str) -> str:
    if _UUID.fullmatch(message_id):
        return message_id
    try:
        return str(UUID(message_id))
    except ValueError:
        raise ValueError(f"the message id {message_id!r} is not a UUID; leave it out to get one") from None
