"""What listeners do not want, on its way out: hidden, warned, deleted; and what must not come back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from jobbko import store

sql = store.queries("dislikes.sql")


@dataclass(frozen=True, slots=True)
class Unwanted:
    """A dislike that is due for its notice."""

    id: str
    track_id: str
    collection_node_id: str
    title: str
    artist_credit: str
    path_text: str


@dataclass(frozen=True, slots=True)
class Doomed:
    """A track that is about to be deleted, locked; root and path are bytes because names need not be UTF-8."""

    id: str
    track_id: str
    collection_node_id: str
    root: bytes
    path: bytes
    path_text: str
    size: int
    mtime_ns: int
    content_hash: bytes
    title: str
    artist_credit: str

    def __post_init__(self) -> None:
        for name in ("root", "path", "content_hash"):  # psycopg2 hands out a memoryview
            object.__setattr__(self, name, bytes(getattr(self, name)))


@dataclass(frozen=True, slots=True)
class Listed:
    """For a person. next_at: when it is announced, or deleted; None: it stays, because somebody else likes it."""

    id: str
    state: str
    user_id: str
    disliked_at: datetime
    warned_at: datetime | None
    error: str
    title: str
    artist_credit: str
    path_text: str
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A track that was deleted. trash_path: where its file was put; "" if it is gone."""

    id: str
    title: str
    artist_credit: str
    path_text: str
    trash_path: str
    deleted_at: datetime


def settle_likes() -> None:
    """Keep what somebody else likes, and start the clock anew for what nobody does any more."""
    with store.transaction():
        store.run(sql["keep_liked"])
        store.run(sql["release_kept"])


def to_warn(*, after: float, limit: int) -> list[Unwanted]:
    """Those hidden for more than `after` seconds, the oldest first."""
    return store.many(Unwanted, sql["to_warn"], after=after, limit=limit)


def set_warned(ids: Sequence[str]) -> None:
    store.run(sql["set_warned"], ids=list(ids))


def doomed(*, after: float, limit: int) -> list[str]:
    """Ids of the dislikes that were warned of more than `after` seconds ago, the oldest first."""
    return [row.id for row in store.many(_Id, sql["doomed"], after=after, limit=limit)]


@contextmanager
def locked(id: str, *, after: float) -> Iterator[Doomed | None]:
    """The track, if it is still to go, and nobody else is at it; what the block writes is one transaction with that."""
    with store.transaction():
        yield store.find(Doomed, sql["lock_doomed"], id=id, after=after)


def bury(track_id: str, trash_path: str = "") -> None:
    """Remove all rows of the track and remember it, so that no scan brings it back."""
    store.run(sql["bury"], track_id=track_id, trash_path=trash_path)


def set_error(id: str, error: str) -> None:
    store.run(sql["set_error"], id=id, error=error)


def buried(collection: str, hashes: Sequence[bytes]) -> set[bytes]:
    """Which of these contents were deleted because nobody wanted them."""
    rows = store.many(_Hash, sql["buried"], collection=collection, hashes=list(hashes)) if hashes else []
    return {row.content_hash for row in rows}


def listing(*, warn_after: float, delete_after: float) -> list[Listed]:
    return store.many(Listed, sql["listing"], warn_after=warn_after, delete_after=delete_after)


def tombstones() -> list[Tombstone]:
    """What was deleted, the latest first."""
    return store.many(Tombstone, sql["tombstones"])


def forget_tombstone(id: str) -> None:
    """Let the next scan take the file in, if it lies there."""
    store.run(sql["forget_tombstone"], id=id)


def undo(id: str) -> bool:
    """Whether there was such a dislike."""
    return bool(store.run(sql["undo"], id=id))


@dataclass(frozen=True, slots=True)
class _Id:
    id: str


@dataclass(frozen=True, slots=True)
class _Hash:
    content_hash: bytes

    def __post_init__(self) -> None:
        object.__setattr__(self, "content_hash", bytes(self.content_hash))
