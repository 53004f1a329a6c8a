"""What Dramatiq's worker asks for messages and tells how they went. It keeps no state: after an error Dramatiq makes a
new one, and acknowledgements must work through that one as well."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

import dramatiq

from jobbko import settings
from jobbko.engine import job as threads
from jobbko.engine.interrupts import Cancelled
from jobbko.engine.job import Job
from jobbko.engine.retries import delay_after, ended, failed, message_of
from jobbko.engine.unit_of_work import finish_with_many
from jobbko.errors import LeaseLost, Missing
from jobbko.store import queue
from jobbko.store.cleaning import Jsonb

if TYPE_CHECKING:
    from jobbko.engine.broker import PostgresBroker

logger = logging.getLogger(__name__)


class Consumer(dramatiq.Consumer):
    def __init__(self, broker: PostgresBroker, queue_name: str, timeout: float) -> None:
        self.broker = broker
        self.inbox = broker.inboxes[queue_name]
        self.timeout = timeout

    def __next__(self) -> Job | None:
        if (job := self.inbox.get(self.timeout)) is None:
            return None
        # Dramatiq's heap sorts by the actor's priority. The job's own place is what counts, so the actor answers with
        # that; only this thread reads it, before the next job is taken.
        self.broker.get_actor(job.actor_name).priority = job.order
        return job

    def ack(self, job: Job) -> None:
        """The job is over, well or not: `job.ended` says which."""
        try:
            if job.started_at is None and not (job.ended or job.skipped or job.exception):
                return  # given back before it started
            if job.lost or job.settled:
                self.broker.process.forget(job)
                self._send_late(job)
                return
            self._adopt_retry(job)
            self._judge(job)
            if job.many and job.ended is None:
                self._finish_with_many(job)
            if not job.settled:
                self._check_result(job)
                self.broker.process.ends(job)
        finally:
            threads.leave()

    def nack(self, job: Job) -> None:
        """Dramatiq wants it dead: a middleware that is not ours has failed it."""
        if job.ended is None and job.started_at is not None and not (job.lost or job.settled):
            error = job.exception or RuntimeError("rejected by a middleware")
            job.ended = failed(job, error, 0)
            job.ended["state"], job.ended["outcome"] = "rejected", "dead"
        self.ack(job)

    def requeue(self, messages: Iterable[Job]) -> None:
        """Called while the worker stops, for what it never started; it has been given back by then."""

    def close(self) -> None:
        pass

    def _adopt_retry(self, job: Job) -> None:
        """Dramatiq's own Retries, if somebody uses it, sends the job itself again."""
        again = next((row for row in job.following if row["id"] == job.message_id), None)
        if again is None:
            return
        job.following.remove(again)
        if job.ended is None:
            job.ended = failed(job, job.exception or RuntimeError("sent again by a middleware"), again.get("delay", 0))

    def _judge(self, job: Job) -> None:
        """What raised and was judged by nobody has failed; it is never done."""
        # Dramatiq stuffs it into the message before anybody else hears of it.
        job.exception = job.exception or job._exception
        if job.ended is None and job.exception is not None and not isinstance(job.exception, Missing):
            job.ended = failed(job, job.exception, settings.BACKOFF)
        if job.rule_failed:
            job.following = []

    def _check_result(self, job: Job) -> None:
        """As JSON knows it. What cannot be written must not reach the dispatcher, which writes for others, too."""
        if job.ended is not None or job.result is None:
            return
        try:
            job.result = json.loads(Jsonb(job.result).dumps(job.result))
        except Exception as error:
            job.following = []
            job.ended = failed(job, TypeError(f"the result cannot be written as JSON: {message_of(error)}"), 0)

    def _send_late(self, job: Job) -> None:
        """What a middleware sent after the job had written its own end with `completion()`."""
        if job.settled and job.following:
            queue.add(job.following)

    def _finish_with_many(self, job: Job) -> None:
        try:
            finish_with_many(job)
            self.broker.process.forget(job)
        except LeaseLost:
            job.lost = job.settled = True
            self.broker.process.forget(job)
        except Cancelled as error:
            job.following = []
            job.ended = ended(job, error, "rejected", outcome="cancelled", kind="cancelled", charge=0)
        except Exception as error:
            # The rule that says what follows is code like the job's own; its failure is the job's failure.
            logger.exception("What follows %s could not be added.", job)
            job.following = []
            options = self.broker.get_actor(job.actor_name).options
            job.ended = failed(job, error, delay_after("internal", job.claimed.attempts + 1, options))
