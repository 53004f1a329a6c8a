"""Gates: what is closed, why and until when; closing and opening by hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobbko import store

sql = store.queries("gates.sql")


@dataclass(frozen=True, slots=True)
class Gate:
    """waiting: jobs that need it and wait, for whatever reason."""

    gate: str
    closed: bool
    reason: str | None
    since: datetime | None
    resume_at: datetime | None
    streak: int
    probing: bool
    note: str | None
    owner: str | None
    waiting: int


@dataclass(frozen=True, slots=True)
class Closed:
    gate: str
    reason: str
    resume_at: datetime | None


@dataclass(frozen=True, slots=True)
class Event:
    at: datetime
    gate: str
    event: str
    reason: str | None
    resume_at: datetime | None
    note: str | None
    owner: str | None


#: Names that every job's own gates begin with, or are; no actor and no failure may use them.
RESERVED = ("type:", "collection:")


def name_fault(gate: str) -> str | None:
    """Why no outside dependency can have this name; None if it can. "+" joins the gates of a lane."""
    if not gate or "+" in gate or gate == "all" or gate.startswith(RESERVED):
        return (
            f'{gate!r} cannot be the name of a gate: not empty, "all", "type:…", "collection:…" or anything with a "+"'
        )
    return None


def listing(all: bool = False) -> list[Gate]:
    """The closed ones; all: also those that were closed once."""
    return store.many(Gate, sql["listing"], all=all)


def closed(gate: str, job: str | None = None) -> Closed | None:
    """None if this job may ask it: the gate is open, or it is the one that tries."""
    return store.find(Closed, sql["closed"], gate=gate, job=job)


def pause(gate: str, until: datetime | None = None, note: str | None = None, owner: str | None = None) -> None:
    """Close a gate by hand, until a time or until somebody opens it. "all", "type:…" and "collection:…" are gates.

    Raises ValueError for a name that no gate can have.
    """
    if not gate or "+" in gate:
        raise ValueError(f'no job can need the gate {gate!r}: a name is not empty and has no "+"')
    store.rows(sql["pause"], gate=gate, until=until, note=note, owner=owner)


def resume(gate: str, owner: str | None = None) -> bool:
    """Open a gate, whatever closed it; False if it was open."""
    return bool(store.value(sql["resume"], gate=gate, owner=owner))


def take(service: str) -> float:
    """Take the service's next free moment; seconds until then. All workers on all hosts share the moments."""
    return float(store.value(sql["take"], service=service))


def rates() -> dict[str, float]:
    """Requests per second, by service; a service that is not here has no rate."""
    return dict(store.rows(sql["rates"]))


def set_rate(service: str, per_second: float) -> None:
    """Valid at once, for all workers."""
    store.run(sql["set_rate"], service=service, per_second=per_second)


def events(gate: str | None = None, limit: int = 50) -> list[Event]:
    """The latest first."""
    return store.many(Event, sql["events"], gate=gate, limit=limit)


def to_announce() -> list[Closed]:
    """Pauses that nobody has been told of; each is handed out once."""
    return store.many(Closed, sql["to_announce"])
