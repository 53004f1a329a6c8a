"""Jobs as a person looks at them: lists, one with all its attempts, the workers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobbko import store
from jobbko.errors import NothingMatched, UserError

sql = store.queries("jobs.sql")

STATUSES = ("pending", "running", "completed", "error", "retry", "cancelled")


@dataclass(frozen=True, slots=True)
class Listed:
    id: str
    job_type: str
    status: str
    priority: int
    attempts: int
    max_attempts: int
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    scheduled_for: datetime
    error_msg: str | None
    payload: dict[str, Any]
    progress: dict[str, Any] | None
    collection_node_id: str


@dataclass(frozen=True, slots=True)
class Shown(Listed):
    result: Any
    gates: list[str]
    subject: str | None
    dedupe_key: str | None
    flow_id: str
    parent_id: str | None
    step: int
    worker: str | None
    lease_until: datetime | None


@dataclass(frozen=True, slots=True)
class Count:
    job_type: str
    status: str
    jobs: int


@dataclass(frozen=True, slots=True)
class Attempt:
    attempt: int
    outcome: str
    kind: str | None
    worker: str | None
    started_at: datetime | None
    ended_at: datetime | None
    message: str | None
    traceback: str | None


@dataclass(frozen=True, slots=True)
class Step:
    id: str
    job_type: str
    status: str
    step: int
    parent_id: str | None


@dataclass(frozen=True, slots=True)
class Flow:
    """id: that of its first job; counts: jobs by status."""

    id: str
    job_type: str
    created_at: datetime
    jobs: int
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Worker:
    id: str
    host: str
    pid: int
    threads: int
    job_types: list[str]
    started_at: datetime
    heartbeat_at: datetime
    stopped_at: datetime | None
    silent_for: float  # seconds


@dataclass(frozen=True, slots=True)
class Server:
    version: str
    number: int
    clock: float  # seconds since 1970


@dataclass(frozen=True, slots=True)
class Dead:
    """Dead letters of one job type that say the same; ids in the message are written as "…"."""

    job_type: str
    message: str
    jobs: int
    first_at: datetime | None
    last_at: datetime | None
    latest_id: str


@dataclass(frozen=True, slots=True)
class Limit:
    """How many jobs of these types may run at once; by_hand: a person has said so, and not the code."""

    name: str
    max_running: int
    by_hand: bool
    job_types: list[str]
    running: int


#: Dead letters put back in one transaction.
BATCH = 500


def listing(status: str | None = None, job_type: str | None = None, limit: int = 50) -> list[Listed]:
    """The newest first."""
    return store.many(Listed, sql["listing"], status=status, job_type=job_type, limit=limit)


def tries(job: Listed) -> int:
    """How often it was begun and that counts: those that failed, and the one that runs or ended well."""
    return min(job.attempts + (job.status in ("running", "completed")), job.max_attempts)


def counts() -> list[Count]:
    return store.many(Count, sql["counts"])


def job(id: str) -> Shown:
    """By its id or by the beginning of it, if that is unmistakable; UserError otherwise."""
    found = [str(match) for (match,) in store.rows(sql["matching"], prefix=_id_like(id))]
    if not found:
        raise NothingMatched(f"There is no job {id}. `jobbko jobs` lists the newest.")
    if len(found) > 1:
        raise UserError(f"More than one job begins with {id}; give more of its id.")
    return store.one(Shown, sql["job"], id=found[0])


def attempts(id: str) -> list[Attempt]:
    return store.many(Attempt, sql["attempts"], id=id)


def flow_counts(flow_id: str) -> dict[str, int]:
    """The jobs of one flow by status."""
    return dict(store.rows(sql["flow_counts"], flow_id=flow_id))


def flow(flow_id: str) -> list[Step]:
    """The jobs of one flow, the first step first; at most 200."""
    return store.many(Step, sql["flow"], flow_id=flow_id)


def flows(limit: int = 20) -> list[Flow]:
    """Those of more than one job, the latest first."""
    return store.many(Flow, sql["flows"], limit=limit)


def cancel_flow(flow: str) -> int:
    """Cancel what is left of it; how many jobs that were."""
    return int(store.value(sql["cancel_flow"], flow=flow))


def retry_flow(flow: str) -> int:
    """Put back its dead and cancelled steps; how many those were."""
    return int(store.value(sql["retry_flow"], flow=flow))


def retry(id: str) -> bool:
    """Waiting again, as if never tried; False if it is not dead, cancelled or waiting for a retry."""
    return bool(store.value(sql["retry"], id=id))


def cancel(id: str) -> bool:
    """Ended for good; a running one at its worker's next sign of life. False if it is over already."""
    return bool(store.value(sql["cancel"], id=id))


def dead(job_type: str | None = None) -> list[Dead]:
    """The most frequent first."""
    return store.many(Dead, sql["dead"], job_type=job_type)


def dead_ids(job_type: str | None = None, match: str | None = None) -> list[str]:
    """match: a part of the error message, in any case."""
    return [id for (id,) in store.rows(sql["dead_ids"], job_type=job_type, match=match)]


def retry_dead(ids: list[str]) -> int:
    """Waiting again, as if never tried, BATCH at a time; how many. Left out: those of which an equal job waits."""
    return sum(int(store.value(sql["retry_dead"], ids=ids[at : at + BATCH])) for at in range(0, len(ids), BATCH))


def is_collection(id: str) -> bool:
    return bool(store.value(sql["collection"], id=id))


def known_gates() -> list[str]:
    """Those that some job needs, or that were closed once."""
    return [name for (name,) in store.rows(sql["known_gates"])]


def limits() -> list[Limit]:
    return store.many(Limit, sql["limits"])


def set_limit(name: str, most: int | None) -> bool:
    """By hand, or None: as the code says, from the next start of a worker on. False if there is no such limit."""
    return store.run(sql["set_limit"], name=name, most=most) == 1


def live_workers(lease: float) -> int:
    """Workers that have said within the last `lease` seconds that they are alive."""
    return int(store.value(sql["live_workers"], lease=lease))


def workers() -> list[Worker]:
    """Those of the last day, the latest first."""
    return store.many(Worker, sql["workers"])


def server() -> Server:
    return store.one(Server, sql["server"])


def _id_like(id: str) -> str:
    prefix = id.strip().lower()
    if not prefix or set(prefix) - set("0123456789abcdef-"):
        raise UserError(f"{id!r} is not a job's id; ids look like 3f2b8c1e-…, and the first characters are enough.")
    return prefix
