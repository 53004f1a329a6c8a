"""What services were asked about tracks and albums, what they answered, and who is asking now."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from jobbko import store

sql = store.queries("lookups.sql")


@dataclass(frozen=True, slots=True)
class Question:
    """asked: all that the answer depends on, so that another question about the same thing has another answer."""

    entity_type: str
    entity_id: str
    provider: str
    asked: str
    collection: str


def is_answered(question: Question) -> bool:
    """Whether there is an answer that still holds, whatever it was."""
    return bool(store.rows(sql["answered"], **asdict(question)))


def begin(question: Question, by: str) -> bool:
    """Whether to ask: not if the service lately had nothing, nor while somebody else asks. by: the track that does."""
    return bool(store.rows(sql["begin"], **asdict(question), asked_by=by))


def give_up(question: Question) -> None:
    """There was no answer: whoever comes next may ask."""
    store.run(sql["give_up"], **asdict(question))


def answer(question: Question, *, found: bool, ttl: float) -> None:
    """Remember whether the service had something, and for how many seconds that holds; longer with each miss."""
    store.run(sql["answer"], **asdict(question), status="ok" if found else "not_found", ttl=ttl)
