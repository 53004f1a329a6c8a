"""The music library as a person looks at it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobbko import store

sql = store.queries("library.sql")


@dataclass(frozen=True, slots=True)
class Row:
    """seconds: length; energy: 0 to 1; lufs: integrated loudness; cover: where the picture came from; partial: less
    could be decoded than the file promised."""

    id: str
    path: str
    state: str
    missing_since: datetime | None
    title: str
    artist: str
    album: str | None
    seconds: float | None
    bpm: float | None
    key: str | None
    energy: float | None
    lufs: float | None
    status: str | None
    reason: str | None
    partial: bool | None
    cover: str | None


@dataclass(frozen=True, slots=True)
class Progress:
    """Jobs: measurements and covers that are not done, those of both that run or could run now, those put off; tracks
    that are still to be looked up outside."""

    to_measure: int
    to_cover: int
    unfinished: int
    later: int
    next_at: datetime | None
    why_later: str | None
    to_look_up: int
    dead: int


def listing(collection: str) -> list[Row]:
    return store.many(Row, sql["listing"], collection=collection)


def progress(collection: str) -> Progress:
    return store.one(Progress, sql["progress"], collection=collection)


def track_count(collection: str) -> int:
    return int(store.value(sql["tracks"], collection=collection))
