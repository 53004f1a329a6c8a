"""How long finished jobs are kept, and the rows that tell of them: deleted in small batches."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from jobbko import settings, store

sql = store.queries("retention.sql")

DAY = 24 * 3600
#: Jobs of each kind deleted in one transaction.
BATCH = 500
#: Seconds for which a worker that is gone is still listed.
WORKERS = 7 * DAY


@dataclass(frozen=True, slots=True)
class Ages:
    """Seconds since the end of a job after which it may go, by how it ended; None: it is kept for ever."""

    completed: float | None = None
    cancelled: float | None = None
    dead: float | None = None


def by_settings() -> Ages:
    """As JOBBKO_KEEP_COMPLETED, JOBBKO_KEEP_CANCELLED and JOBBKO_KEEP_DEAD say."""
    return Ages(
        completed=settings.KEEP_COMPLETED * DAY or None,
        cancelled=settings.KEEP_CANCELLED * DAY or None,
        dead=settings.KEEP_DEAD * DAY or None,
    )


@dataclass(frozen=True, slots=True)
class Purgeable:
    status: str
    jobs: int


def purge(ages: Ages, most: int = BATCH) -> int:
    """Delete one batch; how many jobs that were. Safe beside others who do the same."""
    return int(store.value(sql["purge"], most=most, **asdict(ages)))


def purgeable(ages: Ages) -> list[Purgeable]:
    """What `purge` would delete, in the end."""
    return store.many(Purgeable, sql["purgeable"], **asdict(ages))


def prune(age: float | None) -> None:
    """What tells of workers that are gone and, if an age in seconds is given, of ticks, gates and flows."""
    store.run(sql["prune_workers"], age=WORKERS)
    if age is not None:
        for statement in ("prune_ticks", "prune_events", "prune_barriers"):
            store.run(sql[statement], age=age)
