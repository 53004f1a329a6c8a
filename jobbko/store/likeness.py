"""Which tracks of a collection sound like something, nearest first; which are the same recording in another file.

The something is a vector as jobbko.audio.embedding makes them: 56 numbers, standardised, so that distances are Euclid's
and need no figures of the collection. A track's own is `music.find_features(…).embedding`; the mean of several is a
vector, too. Distances: 0 is the same sound, below 3 nearly so, 10 is any other piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobbko import store

sql = store.queries("likeness.sql")


@dataclass(frozen=True, slots=True)
class Neighbour:
    track_id: str
    distance: float


def sounds_like(
    collection: str, embedding: Sequence[float], *, version: int, limit: int, without: Sequence[str] = ()
) -> list[Neighbour]:
    """The nearest tracks that are there and measured as they are now. version: embedding_version of the vector; tracks
    that have one of another version only are left out until they are measured again. without: ids not wanted."""
    return store.many(
        Neighbour,
        sql["sounds_like"],
        collection=collection,
        embedding=list(embedding),
        version=version,
        without=list(without),
        limit=limit,
    )


def same_recording(track_id: str) -> list[str]:
    """Ids of the tracks of its collection whose sound is bit for bit that of this one to a fingerprint.

    A re-encoded copy may differ in a few bits of it and is not found.
    """
    return [row.track_id for row in store.many(_Twin, sql["same_recording"], track_id=track_id)]


@dataclass(frozen=True, slots=True)
class _Twin:
    track_id: str
