"""Fan-in: something follows when all branches of a group are done or dead.

    photos = group([photo_ingest.message(…), …])
    photos.add_completion_callback(writeup.message(page_id))
    photos.run()

Dramatiq's own group callbacks fire only if every member succeeds (Bogdanp/dramatiq#868) and count in a store beside the
queue. Here a branch arrives in the transaction that ends its job, however that ends: done, dead, cancelled, or swept
after its worker died. A callback with the option `fan_in="done"` follows only when all branches are done; a dead one
that is requeued and then succeeds counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from dramatiq import Broker, Message, group, pipeline
from dramatiq.middleware import GroupCallbacks

from jobbko.store import queue


class FanIn(GroupCallbacks):
    """In the place of Dramatiq's: `group.run()` looks for one of its class and asks it for a barrier."""

    def __init__(self) -> None:
        super().__init__(self)  # type: ignore[no-untyped-call]

    @property
    def actor_options(self) -> set[str]:
        return {"fan_in"}

    def add(self, key: str, value: int, ttl: int) -> bool:
        """What Dramatiq's Barrier asks of its backend; it never expires here."""
        queue.open_barrier(key, value)
        return True

    def after_process_message(
        self, broker: Broker, message: Message[Any], *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        """The database counts, when the job's end is written."""


def with_fan_in(step: group) -> Iterator[Message[Any] | pipeline]:
    """The children of a group that a rule gave back, marked as `group.run()` would."""
    barrier = str(uuid4())
    queue.open_barrier(barrier, len(step.children))
    marks = {"group_completion_uuid": barrier, "group_completion_callbacks": step.completion_callbacks}
    for child in step.children:
        if isinstance(child, pipeline):
            *steps, last = child.messages
            yield pipeline([*steps, last.copy(options=marks)], broker=child.broker)
        else:
            yield child.copy(options=marks)
