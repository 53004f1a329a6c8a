"""The queue as the engine uses it: add, take a turn, renew, sweep, complete."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

import psycopg2

from jobbko import store
from jobbko.store.cleaning import Jsonb

sql = store.queries("queue.sql")

#: Whatever belongs to none that is named belongs here; there from the first migration on.
DEFAULT_COLLECTION = "00000000-0000-0000-0000-000000000001"

#: Tries to add a job whose equal is just being claimed by a worker.
EQUAL_TRIES = 3


class NewJob(TypedDict, total=False):
    """A job to be added; what is left out gets the table's default."""

    id: str
    collection: str | None
    job_type: str
    payload: dict[str, Any]
    args: list[Any] | None  # positional arguments without a name
    options: dict[str, Any] | None
    priority: int
    max_attempts: int
    gates: list[str]
    delay: float  # seconds from now
    queue_name: str
    dedupe: bool
    following: str | None  # what is to follow it, as far as equality goes
    dedupe_key: str | None
    until_done: bool  # equal to a running job, too
    rank: int  # of its reason; a stronger one takes the place of an equal job that waits
    debounce: bool  # move an equal job that waits, instead of leaving it alone
    subject: str | None
    flow_id: str | None
    parent_id: str | None
    step: int
    in_flow: bool
    barrier: str  # the fan-in that waits for its branch
    branch: str  # the last step of that branch
    tell: bool  # notify jobbko_events of each change of its status


#: How a leased job ended. Written this way because `class` is a keyword.
Ended = TypedDict(
    "Ended",
    {
        "id": str,
        "token": str,
        "state": str,  # done, queued (again) or rejected (dead)
        "result": Any,
        "charge": int,  # failures to count: 0 or 1
        "delay": float | None,  # seconds until it is due again; None leaves its place in the order
        "cancelled": bool,
        "error": str,
        "outcome": str,  # if the attempt is to be recorded: retry, dead, refunded, cancelled
        "class": str,
        "traceback": str,
        # A failure of something outside: it closes the gate, and the job waits there.
        "gate": str,
        "reason": str,  # outage, credit, auth or budget
        "seconds": float | None,  # how long the other side asked for
        "until": str | None,  # a time at which it opens
        "suspect": str,  # the service that answered with a plain 500
    },
    total=False,
)


class Claimed(NamedTuple):
    """A leased job. A tuple, because a worker makes thousands of them in a second."""

    id: str
    token: str
    job_type: str
    payload: str  # JSON, still to be read: one row that cannot be must not hold up the others
    args: str | None
    options: str | None
    attempts: int
    max_attempts: int
    collection: str
    priority: int
    lane: str
    flow_id: str
    step: int
    in_flow: bool
    created_ms: int  # since 1970
    scheduled_at: float  # seconds since 1970
    seq: int


@dataclass(frozen=True, slots=True)
class Turn:
    jobs: list[Claimed]  # in the order in which they are to start
    lost: set[str]  # ended jobs whose lease another worker has by now; nothing was written for them
    served: list[str] | None  # the place served last; give it to the next turn
    contended: bool
    next_due: float | None  # seconds until the next scheduled job is due


@dataclass(frozen=True, slots=True)
class Outcome:
    status: str
    result: Any
    error_msg: str | None


def add(jobs: Sequence[NewJob]) -> set[str]:
    """The ids of the rows that are new or were moved: an id that exists and, without `debounce`, an equal job that
    waits are left as they are."""
    if not jobs:
        return set()
    keyed = any("dedupe" in job or "dedupe_key" in job for job in jobs)
    if not (keyed and any("until_done" in job for job in jobs)):
        return {id for (id,) in store.rows(sql["add"], jobs=Jsonb(jobs), keyed=keyed)}
    for _ in range(EQUAL_TRIES):
        try:
            with store.transaction():  # a savepoint, if there is one around it
                return {id for (id,) in store.rows(sql["add"], jobs=Jsonb(jobs), keyed=True)}
        except psycopg2.errors.UniqueViolation:
            continue  # an equal job started at this very moment; the next look finds it running
    return set()


def equal_waiting(job: NewJob) -> str | None:
    """The id of the waiting job that made `add` leave this one out."""
    found = store.value(
        sql["equal_waiting"],
        collection=job.get("collection"),
        dedupe=job.get("dedupe", False),
        dedupe_key=job.get("dedupe_key"),
        job_type=job["job_type"],
        payload=Jsonb(job["payload"]),
        following=job.get("following"),
    )
    return None if found is None else str(found)


def turn(
    done: Sequence[tuple[str, str]],
    ended: Sequence[Ended],
    following: Sequence[NewJob],
    types: list[str],
    want: int,
    worker: str,
    lease: float,
    served: list[str] | None,
    promote: bool,
) -> Turn:
    """Finish `done` (id, lease token) and `ended`, add what follows those that passed, lease up to `want` jobs."""
    *jobs, summary = store.rows(
        sql["turn"],
        done_ids=_array(id for id, _ in done),
        done_tokens=_array(token for _, token in done),
        ended=Jsonb(ended) if ended else None,
        following=Jsonb(following) if following else None,
        types=types,
        want=want,
        worker=worker,
        lease=lease,
        served=served,
        promote=promote,
    )
    said = summary[17]
    lost = {id for id, _ in done} | {item["id"] for item in ended} if "passed_ids" in said else set()
    claimed = [Claimed._make(row[:17]) for row in jobs]
    return Turn(
        jobs=sorted(claimed, key=lambda job: (-job.priority, job.scheduled_at, job.seq)),
        lost=lost - set(said.get("passed_ids", ())),
        served=said.get("served"),
        contended=said.get("contended", False),
        next_due=said.get("next_due"),
    )


def _array(ids: Iterable[str]) -> str:
    """As Postgres writes an array; quicker than quoting each."""
    return "{" + ",".join(ids) + "}"


def renew(leases: dict[str, str], lease: float) -> tuple[set[str], set[str]]:
    """Of the leases (id → token): the ids that are still ours, and those of them that somebody has cancelled."""
    renewed = store.rows(sql["renew"], ids=list(leases), tokens=list(leases.values()), lease=lease)
    return {id for id, _ in renewed}, {id for id, cancelled in renewed if cancelled}


def give_back(worker: str, tokens: list[str]) -> int:
    """What the worker leased without knowing it waits again, free of charge; how many jobs that was."""
    return store.run(sql["give_back"], worker=worker, tokens=tokens)


def expired() -> list[str]:
    """Up to 100 jobs whose lease ran out."""
    return [id for (id,) in store.rows(sql["expired"])]


def sweep(ids: list[str], lease: float, backoff: float) -> int:
    """Those of the jobs whose lease ran out go back to waiting or to the dead letters; how many there were."""
    return len(store.rows(sql["sweep"], ids=ids, lease=lease, backoff=backoff))


def running(tokens: dict[str, str]) -> set[str]:
    """Which of these jobs (id → lease token) their worker still has, not cancelled."""
    return {str(id) for (id,) in store.rows(sql["running"], ids=list(tokens), tokens=list(tokens.values()))}


def hold(id: str, token: str) -> str | None:
    """Lock the job's row until the transaction ends: "held", "cancelled" by somebody, or None if the lease is lost."""
    found = store.value(sql["hold"], id=id, token=token)
    return None if found is None else str(found)


def complete(id: str, token: str, result: Any) -> bool:
    return bool(store.value(sql["complete"], id=id, token=token, result=None if result is None else Jsonb(result)))


def set_progress(id: str, token: str, progress: dict[str, Any]) -> None:
    store.run(sql["progress"], id=id, token=token, progress=Jsonb(progress))


def open_barrier(id: str, branches: int, callbacks: Sequence[NewJob]) -> None:
    """A fan-in that waits until so many branches are done or dead; the callbacks are added then."""
    store.run(sql["open_barrier"], id=id, branches=branches, callbacks=Jsonb(callbacks))


def ring() -> None:
    """Wake the workers that listen."""
    store.rows(sql["ring"])


def unfinished(queue: str | None = None) -> int:
    """How many jobs run or are due."""
    return int(store.value(sql["unfinished"], queue=queue))


def flush(queue: str | None = None) -> int:
    """Delete what waits; what runs stays. How many rows that was."""
    return store.run(sql["flush"], queue=queue)


def outcome(id: str) -> Outcome | None:
    return store.find(Outcome, sql["outcome"], id=id)


def publish(types: Sequence[dict[str, Any]], limits: dict[str, tuple[int, int | None]]) -> None:
    """Tell every way in what jobs there are and how many of a name may run at once, in all and of one collection;
    never takes one back."""
    with store.transaction():
        if limits:
            in_all, each = zip(*limits.values(), strict=True)
            store.run(sql["publish_limits"], names=list(limits), most=list(in_all), each=list(each))
        store.run(sql["publish"], types=Jsonb(types))


def worker_started(id: str, host: str, pid: int, threads: int, job_types: list[str]) -> None:
    store.run(sql["worker_started"], id=id, host=host, pid=pid, threads=threads, job_types=job_types)


def worker_alive(id: str) -> None:
    store.run(sql["worker_alive"], id=id)


def worker_stopped(id: str) -> None:
    store.run(sql["worker_stopped"], id=id)
