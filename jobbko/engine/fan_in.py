"""Fan-in: something follows when all branches of a group are done or dead.

    photos = group([photo_ingest.message(…), …])
    photos.add_completion_callback(writeup.message(page_id))
    photos.run()

Dramatiq's own group callbacks fire only if every member succeeds (Bogdanp/dramatiq#868) and count in a store beside the
queue. Here a branch arrives in the transaction that ends its job, however that ends: done, dead, cancelled, or swept
after its worker died. A callback with the option `fan_in="done"` follows only when all branches are done; a dead one
that is requeued and then succeeds counts. Each branch is a job of its own, even if an equal one waits.

Of no branches all are done: a rule that gives back an empty group gets what was to follow it. (`group.run()` refuses
one with Dramatiq's own "parties must be a positive integer", before it asks us.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from dramatiq import Broker, Message, group, pipeline
from dramatiq.middleware import GroupCallbacks, MiddlewareError

from jobbko.engine.new_job import new_job
from jobbko.store import queue
from jobbko.store.queue import NewJob

if TYPE_CHECKING:
    from jobbko.engine.broker import PostgresBroker


class CallbackRefused(MiddlewareError, ValueError):
    """What is to follow a group could never be sent, so nothing of the group is. (Dramatiq lets only its own pass.)"""


class FanIn(GroupCallbacks):
    """In the place of Dramatiq's: `group.run()` looks for one of its class and asks it for a barrier."""

    def __init__(self) -> None:
        super().__init__(self)  # type: ignore[no-untyped-call]
        self._asked: dict[str, int] = {}

    @property
    def actor_options(self) -> set[str]:
        return {"fan_in"}

    def add(self, key: str, value: int, ttl: int) -> bool:
        """What Dramatiq's Barrier asks of its backend. It does not say what follows: the first branch does."""
        self._asked[key] = value
        return True

    def before_enqueue(self, broker: PostgresBroker, message: Message[Any], delay: int | None) -> None:
        """Open the barrier before its first branch is sent. Raises CallbackRefused."""
        if not self._asked:
            return
        last = _last_options(message)
        if (branches := self._asked.pop(last.get("group_completion_uuid", ""), None)) is None:
            return
        collection = message.options.get("collection")
        try:
            rows = _callbacks(broker, last["group_completion_callbacks"], collection)
        except (TypeError, ValueError) as error:
            raise CallbackRefused(f"what is to follow the group: {error}") from error
        queue.open_barrier(last["group_completion_uuid"], branches, rows)

    def after_process_message(
        self, broker: Broker, message: Message[Any], *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        """The database counts, when the job's end is written."""


def with_fan_in(step: group) -> Iterator[Message[Any] | pipeline]:
    """The children of a group that a rule gave back, marked as `group.run()` would."""
    if not step.children:
        yield from (Message(**{**said, "args": tuple(said["args"])}) for said in step.completion_callbacks)
        return
    barrier = str(uuid4())
    broker = cast("PostgresBroker", step.broker)
    queue.open_barrier(barrier, len(step.children), _callbacks(broker, step.completion_callbacks, None))
    marks = {"group_completion_uuid": barrier}
    for child in step.children:
        if isinstance(child, pipeline):
            *steps, last = child.messages
            yield pipeline([*steps, last.copy(options=marks)], broker=child.broker)
        else:
            yield child.copy(options=marks)


def _callbacks(broker: PostgresBroker, messages: list[dict[str, Any]], collection: Any) -> list[NewJob]:
    """Their rows, worked out while the sender can still be told what is wrong with them."""
    rows = []
    for fields in messages:
        message: Message[Any] = Message(**{**fields, "args": tuple(fields["args"])})
        row = new_job(broker, message, message.options.get("delay"))
        row["in_flow"] = True
        if row["collection"] is None and collection is not None:
            row["collection"] = str(collection)  # the first branch's
        rows.append(row)
    return rows


def _last_options(message: Message[Any]) -> dict[str, Any]:
    """Of a branch's last step: `group` marks that one."""
    options = message.options
    while (target := options.get("pipe_target")) is not None:
        options = target["options"]
    return options
