"""Where the parts meet: the broker, its middleware in order, and the decorator that actors use."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import dramatiq
from dramatiq.brokers.stub import StubBroker
from periodiq import PeriodiqMiddleware, cron

from jobbko import store

broker = StubBroker(middleware=[PeriodiqMiddleware()])
broker.actor_options |= {"max_attempts", "backoff", "gates", "dedupe", "subject", "time_limit", "limit", "progress"}
dramatiq.set_broker(broker)

#: Dramatiq's own decorator. Taken from here, it cannot run before the broker above is set.
actor = dramatiq.actor


@dataclass
class Completion:
    result: Any = None


@contextlib.contextmanager
def completion() -> Iterator[Completion]:
    with store.transaction():
        yield Completion()


__all__ = ["actor", "broker", "completion", "cron"]
