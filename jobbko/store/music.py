"""Tracks and how they sound, as the music jobs see them."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobbko import store
from jobbko.errors import Permanent
from jobbko.store.cleaning import Jsonb

sql = store.queries("music.sql")

#: Most ids that one statement reads.
PAGE = 500


@dataclass(frozen=True, slots=True)
class Track:
    """A file and what its tags say; path is below the root, and both are bytes because names need not be UTF-8."""

    id: str
    collection_node_id: str
    path: bytes
    path_text: str
    state: str
    size: int
    mtime_ns: int
    title: str
    artist_credit: str
    album_id: str | None
    disc_no: int | None
    tag_error: str
    audio_features_ready: bool
    root: bytes

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", bytes(self.path))  # psycopg2 hands out a memoryview
        object.__setattr__(self, "root", bytes(self.root))

    @property
    def file(self) -> bytes:
        """Where it lies on disk."""
        return os.path.join(self.root, self.path)


@dataclass(frozen=True, slots=True)
class Album:
    id: str
    collection_node_id: str
    title: str
    artist_credit: str
    compilation: bool
    year: int | None
    mb_release_id: str | None
    mb_release_group_id: str | None
    artwork_id: str | None
    artwork_source: str | None


@dataclass(frozen=True, slots=True)
class Features:
    """How a track sounds, or why that could not be told. Units stand beside the columns in the migration."""

    track_id: str
    analyzer: str
    analyzer_version: int
    source_size: int
    source_mtime_ns: int
    status: str
    reason: str
    engine: str
    partial: bool
    non_finite: bool
    decoded_seconds: float | None
    analyzed_seconds: float | None
    lufs: float | None
    lra: float | None
    true_peak_db: float | None
    bpm: float | None
    bpm_confidence: float | None
    bpm_alt: float | None
    key_pitch_class: int | None
    key_mode: str | None
    key_strength: float | None
    key_name: str | None
    key_camelot: str | None
    key_agreement: bool | None
    key_edma: str | None
    key_shaath: str | None
    energy: float | None
    danceability: float | None
    dynamic_complexity: float | None
    onset_rate: float | None
    spectral_centroid: float | None
    melody_voiced_ratio: float | None
    melody_median_hz: float | None
    melody_range: float | None
    melody_spread: float | None
    melody_motion: float | None
    melody_turns: float | None
    chord_change_rate: float | None
    hpcp: list[float] | None
    fingerprint: str | None
    embedding: list[float] | None
    embedding_version: int | None
    cpu_ms: int | None
    peak_rss_mb: int | None


def track(track_id: str) -> Track:
    """Permanent, if that cannot be the id of a track."""
    _check("track_id", track_id)
    return store.one(Track, sql["track"], track_id=track_id)


def track_at(collection: str, path: bytes) -> Track:
    return store.one(Track, sql["track_at"], collection=collection, path=path)


def album(album_id: str) -> Album:
    """Permanent, if that cannot be the id of an album."""
    _check("album_id", album_id)
    return store.one(Album, sql["album"], album_id=album_id)


def unanalysed(collections: Sequence[str], *, analyzer: str, version: int, available: bool) -> Iterator[str]:
    """Ids of the tracks that this version has not judged as they are now; read page by page, in the order of ids.

    available: whether the engine can run here; if so, tracks that met no engine before are among them.
    """
    after = "00000000-0000-0000-0000-000000000000"
    while page := store.many(
        _Id,
        sql["unanalysed"],
        collections=list(collections),
        analyzer=analyzer,
        version=version,
        available=available,
        after=after,
        limit=PAGE,
    ):
        yield from (row.id for row in page)
        after = page[-1].id


def find_features(track_id: str, analyzer: str) -> Features | None:
    return store.find(Features, sql["features"], track_id=track_id, analyzer=analyzer)


def set_features(
    track_id: str, *, analyzer: str, version: int, size: int, mtime_ns: int, measured: Mapping[str, Any]
) -> None:
    """Keep a verdict about the file of that size and time; one row per track and analyzer, however often called."""
    with store.transaction():
        store.run(
            sql["set_features"],
            track_id=track_id,
            analyzer=analyzer,
            version=version,
            size=size,
            mtime_ns=mtime_ns,
            measured=Jsonb(dict(measured)),
        )
        store.run(sql["set_features_ready"], track_id=track_id)


def _check(name: str, id: str) -> None:
    try:
        uuid.UUID(id)
    except ValueError:
        raise Permanent(f"{name} {id!r} is no id; ids look like 3f2b8c1e-9d41-4c7a-8e55-0b7f6a2d1c90") from None


@dataclass(frozen=True, slots=True)
class _Id:
    id: str
