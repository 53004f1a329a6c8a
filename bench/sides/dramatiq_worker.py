"""The sides that are a Dramatiq broker: Dramatiq's own worker on each of them."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from typing import Any

import dramatiq
from dramatiq.middleware import default_middleware
from race import Race


def usual_middleware() -> list[Any]:
    """Dramatiq's defaults without Prometheus: it needs the `dramatiq` command, and Dramatiq 2 no longer has it."""
    return [middleware() for middleware in default_middleware if middleware.__name__ != "Prometheus"]


def run(
    race: Race,
    broker: Any,
    unfinished: Callable[[], int],
    settings: dict[str, Any],
    send: Callable[[Any, int], object] | None = None,
) -> None:
    """`send` puts that many jobs of that actor into the queue; without it they are sent one by one."""

    @dramatiq.actor(broker=broker)
    def noop() -> None:
        race.job_ran()

    if send is not None:
        send(noop, race.jobs)
    else:
        for _ in range(race.jobs):
            noop.send()
    worker = dramatiq.Worker(broker, worker_threads=race.threads)

    race.wait_for_release()
    worker.start()
    race.all_ran.wait()
    versions = {"dramatiq": importlib.metadata.version("dramatiq")}
    race.finish(unfinished, {"worker_threads": race.threads, "middleware": "usual"} | settings | versions)
