"""What follows a job: the next step of its pipeline, or what a rule says when it was started alone.

A dead step keeps the rest of its flow in its own options, so requeueing it lets the flow go on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

import dramatiq
from dramatiq import Actor, Broker, Message, group, pipeline

from jobbko.engine.fan_in import with_fan_in
from jobbko.engine.job import Job
from jobbko.engine.new_job import next_step
from jobbko.store.queue import NewJob

#: What a rule may give back or yield.
Step = Message[Any] | pipeline | group
Rule = Callable[[Any], Step | Iterable[Step] | None]

#: Rows that follow one job in the dispatcher's turn; a job with more of them writes its own end, this many at a time.
BATCH = 500


class Flows(dramatiq.Middleware):
    """Options: pipe_target (the next step, set by `pipeline`), pipe_ignore (the next step does not want the result)."""

    def __init__(self) -> None:
        self.rules: dict[str, list[Rule]] = {}

    @property
    def actor_options(self) -> set[str]:
        return {"pipe_ignore", "pipe_target"}

    def follows(self, actor: Actor[Any, Any]) -> Callable[[Rule], Rule]:
        """Declare what follows a job that was started alone: a function from its result to the next messages.

        It gives back one step, several, or None, or is a generator; it runs inside the unit of work, and what it says
        is inserted with the job's completion. If that is more than 500 messages it is asked a second time, so it should
        do nothing but answer. A job inside an explicit flow follows that flow only.
        """

        def declare(rule: Rule) -> Rule:
            self.rules.setdefault(actor.actor_name, []).append(rule)
            return rule

        return declare

    def after_process_message(
        self, broker: Broker, message: Job, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        if exception is not None or message.failed or message.settled or message.lost:
            return
        sent = len(message.following)
        try:
            batches = self.batches(message, result)
            first = next(batches, [])
            if next(batches, None) is None:
                message.following.extend(first)
            else:
                # Asked again, from the start and inside the transaction that ends the job: a rule that was left half
                # way could have one of its own open.
                batches.close()
                del message.following[sent:]
                message.many = True
        except Exception as error:
            # Dramatiq would log this, swallow it and acknowledge the job: the flow would end here, unseen.
            message.exception = error
            message.rule_failed = True

    def batches(self, job: Job, result: Any) -> Generator[list[NewJob], None, None]:
        """The rows that follow the job, at most BATCH at a time, worked out as they are asked for."""
        rows = (next_step(job, message, message.options.get("delay")) for message in self._messages(job, result))
        while batch := list(itertools.islice(rows, BATCH)):
            yield batch

    def _messages(self, job: Job, result: Any) -> Iterator[Message[Any]]:
        target = job.options.get("pipe_target")
        if target is not None:
            step: Message[Any] = Message(**{**target, "args": tuple(target["args"])})
            actor = job.broker.get_actor(job.actor_name)
            if step.options.get("pipe_ignore") or actor.options.get("pipe_ignore"):
                yield step
            else:
                yield step.copy(args=(*step.args, result))
        elif not job.claimed.in_flow:
            for rule in self.rules.get(job.actor_name, ()):
                match rule(result):
                    case None:
                        pass
                    case (Message() | pipeline() | group()) as only:
                        yield from _first_messages(only)
                    case several:
                        yield from itertools.chain.from_iterable(map(_first_messages, several))


def _first_messages(step: Step) -> Iterator[Message[Any]]:
    match step:
        case group() if step.completion_callbacks:
            for child in with_fan_in(step):
                yield from _first_messages(child)
        case group():
            for child in step.children:
                yield from _first_messages(child)
        case pipeline():
            yield step.messages[0]
        case _:
            yield step
