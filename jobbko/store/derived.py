"""What models made of something, version by version, beside the owner's own; only the newest of a kind is current."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from jobbko import store
from jobbko.store.cleaning import Jsonb

sql = store.queries("derived.sql")


@dataclass(frozen=True, slots=True)
class Subject:
    """What it is made of; subject_type: node, photo, …"""

    subject_id: str
    collection: str
    subject_type: str = "node"


@dataclass(frozen=True, slots=True)
class Derived:
    """producer: the model, or "human"; input_sha256: of all that it was made from."""

    subject_id: str
    kind: str
    version: int
    text: str | None
    payload: Any
    producer: str
    prompt: str
    input_sha256: str


@dataclass(frozen=True, slots=True)
class Made:
    """How it was made. run: the ledger's row."""

    producer: str
    prompt: str
    input_sha256: str
    run: str


def current(subject: Subject, kind: str) -> Derived | None:
    return store.find(Derived, sql["current"], **asdict(subject), kind=kind)


def is_current(subject: Subject, kind: str, input_sha256: str) -> bool:
    """Whether it was made from exactly this already."""
    found = current(subject, kind)
    return found is not None and found.input_sha256 == input_sha256


def add(subject: Subject, kind: str, made: Made, *, text: str = "", payload: Any = None, format: str = "text") -> int:
    """A new version, and now the current one; its number."""
    said = {"text": text, "payload": None if payload is None else Jsonb(payload), "format": format}
    with store.transaction():
        store.run(sql["supersede"], **asdict(subject), kind=kind)
        return int(store.value(sql["add"], **asdict(subject), **asdict(made), **said, kind=kind))
