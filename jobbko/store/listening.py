"""What is listened to: sessions, what was played in them, and the batches of what to play next."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from jobbko import store
from jobbko.errors import Permanent
from jobbko.store.cleaning import Jsonb

Row = TypeVar("Row")

sql = store.queries("listening.sql")

#: What may ask for a batch.
TRIGGERS = ("session_start", "playback_completed")
#: Seconds for which a skip counts, and how many since it was last played to the end keep a track away for that long.
SKIPS_COUNT, TOO_MANY_SKIPS = 30 * 86400, 3
#: Candidates: out of the closest so many, of each artist so many, so many in all; and so many that were never heard.
CLOSEST, EACH_ARTIST, NEAR, UNHEARD = 2000, 10, 300, 100


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    collection_node_id: str
    user_id: str


@dataclass(frozen=True, slots=True)
class Standing:
    """batches: of this trigger; begun: whether there is a batch at all; follows: whether the last track that was played
    to the end had been offered; ahead: tracks of the newest batch that nobody has touched."""

    batches: int
    last_event: str | None
    begun: bool
    after_event: str | None
    follows: bool
    ahead: int


@dataclass(frozen=True, slots=True)
class Heard:
    id: str
    completed: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """Tracks of a collection, and those whose sound is known."""

    there: int
    analysed: int


def locked_session(id: str) -> Session:
    """The session, for the caller alone until her transaction ends. Permanent, if that cannot be an id.

    Missing also where it belongs to another collection than the running job.
    """
    try:
        uuid.UUID(id)
    except ValueError:
        raise Permanent(
            f"listening_session_id {id!r} is no id; ids look like 3f2b8c1e-9d41-4c7a-8e55-0b7f6a2d1c90"
        ) from None
    return store.one(Session, sql["session"], id=id)


def standing(session: Session, trigger: str) -> Standing:
    return store.one(Standing, sql["standing"], session=session.id, user=session.user_id, trigger=trigger)


def heard(session: Session) -> list[Heard]:
    """What was played in it, the latest first."""
    return store.many(Heard, sql["heard"], session=session.id)


def offered(session: Session) -> list[str]:
    """Ids of the tracks in its batches."""
    return _ids(sql["offered"], session=session.id)


def favourites(session: Session, *, analyzer: str, limit: int) -> list[str]:
    """Ids of the listener's own, the latest first."""
    return _ids(
        sql["favourites"],
        collection=session.collection_node_id,
        user=session.user_id,
        analyzer=analyzer,
        limit=limit,
    )


def by_chance(session: Session, *, analyzer: str, seed: int) -> list[str]:
    """One id, by lot; none if there is nothing left."""
    return _ids(
        sql["by_chance"],
        collection=session.collection_node_id,
        user=session.user_id,
        session=session.id,
        analyzer=analyzer,
        seed=seed,
    )


def tracks(row: type[Row], ids: Sequence[str], session: Session, *, analyzer: str) -> dict[str, Row]:
    """By id, as the dataclass that is asked for; figures are None where the sound is unknown."""
    found = store.many(
        row, sql["tracks"], ids=list(ids), user=session.user_id, analyzer=analyzer, skips_count=SKIPS_COUNT
    )
    return {each.id: each for each in found}  # type: ignore[attr-defined]


def spread(row: type[Row], session: Session, *, analyzer: str) -> Row:
    return store.one(row, sql["spread"], collection=session.collection_node_id, analyzer=analyzer)


def candidates(session: Session, *, analyzer: str, seed: int, narrowed: Mapping[str, float]) -> list[str]:
    """Ids of some hundred tracks that may be played next; `narrowed` is what is near, as the statement names it."""
    return _ids(
        sql["candidates"],
        collection=session.collection_node_id,
        user=session.user_id,
        session=session.id,
        analyzer=analyzer,
        seed=seed,
        skips_count=SKIPS_COUNT,
        too_many_skips=TOO_MANY_SKIPS,
        closest=CLOSEST,
        each_artist=EACH_ARTIST,
        near=NEAR,
        unheard=UNHEARD,
        **narrowed,
    )


def counts(session: Session, *, analyzer: str) -> Counts:
    return store.one(Counts, sql["counts"], collection=session.collection_node_id, analyzer=analyzer)


def add_batch(
    session: Session,
    trigger: str,
    seq: int,
    *,
    version: int,
    seed: int,
    after_event: str | None,
    reason: str,
    seeds: Sequence[Mapping[str, Any]],
    items: Sequence[Mapping[str, Any]],
) -> str | None:
    """The new batch's id; None, and nothing is written, if there is one of that number already."""
    with store.transaction():
        batch = store.value(
            sql["add_batch"],
            collection=session.collection_node_id,
            session=session.id,
            trigger=trigger,
            seq=seq,
            version=version,
            seed=seed,
            after_event=after_event,
            reason=reason,
        )
        if batch is not None:
            store.run(sql["add_seeds"], batch=batch, seeds=Jsonb(list(seeds)))
            store.run(sql["add_items"], batch=batch, items=Jsonb(list(items)))
    return batch if batch is None else str(batch)


def _ids(query: str, **params: Any) -> list[str]:
    return [row.id for row in store.many(_Id, query, **params)]


@dataclass(frozen=True, slots=True)
class _Id:
    id: str
