"""Jobbkø with its default middleware; every job and attempt is kept, as in production."""

import os

from race import Race

race = Race()
os.environ["DATABASE_URL"] = race.url

import dramatiq_worker  # noqa: E402

from jobbko import __version__, store  # noqa: E402
from jobbko.engine import PostgresBroker  # noqa: E402
from jobbko.store.migrate import migrate  # noqa: E402

migrate()
broker = PostgresBroker()


def unfinished() -> int:
    ((count,),) = store.rows("select count(*) from job_queue where status <> 'completed'")
    return count


def send(noop, jobs: int) -> None:
    broker.job_types.publish()
    broker.enqueue_many(noop.message() for _ in range(jobs))


dramatiq_worker.run(race, broker, unfinished, {"jobbko": __version__}, send)
