"""What is wrong with a queue that looks well: open transactions, dead rows, leases that are over, work for nobody."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobbko import store

sql = store.queries("health.sql")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A connection whose transaction has been open for that many seconds."""

    pid: int
    application: str
    state: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Prepared:
    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Slot:
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Rows:
    live: int
    dead: int
    last_autovacuum: datetime | None


@dataclass(frozen=True, slots=True)
class Stuck:
    jobs: int
    seconds: float | None  # since the oldest lease ran out


@dataclass(frozen=True, slots=True)
class FanIn:
    id: str
    error: str
    job_type: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Orphan:
    job_type: str
    jobs: int


def snapshots(age: float) -> list[Snapshot]:
    """Transactions that have been open for more than `age` seconds, the oldest first."""
    return store.many(Snapshot, sql["snapshots"], age=age)


def prepared(age: float) -> list[Prepared]:
    """Transactions that were prepared more than `age` seconds ago and never ended."""
    return store.many(Prepared, sql["prepared"], age=age)


def slots() -> list[Slot]:
    """Replication slots that nobody reads."""
    return store.many(Slot, sql["slots"])


def rows() -> Rows:
    """Of the table job_queue, as the statistics have it."""
    return store.find(Rows, sql["rows"]) or Rows(0, 0, None)


def stuck(age: float) -> Stuck:
    """Jobs whose lease ran out more than `age` seconds ago and that no worker has taken up."""
    return store.one(Stuck, sql["stuck"], age=age)


def fan_ins() -> list[FanIn]:
    """Groups that are over and whose callback could not be sent, the oldest first."""
    return store.many(FanIn, sql["fan_ins"])


def orphans(lease: float) -> list[Orphan]:
    """Job types of which some are due and that no worker runs that was alive `lease` seconds ago."""
    return store.many(Orphan, sql["orphans"], lease=lease)
