"""What a scan of a library root knows and writes: roots, files met before, those that moved, those that are missing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobbko import store
from jobbko.store import music_rows
from jobbko.store.cleaning import Jsonb

sql = store.queries("music_scan.sql")

#: Most rows that one statement reads.
PAGE = 500
INVENTORY_PAGE = 20_000


@dataclass(frozen=True, slots=True)
class Root:
    """A folder of music; its node is the collection that all found in it belongs to."""

    collection_node_id: str
    path: bytes
    path_text: str
    state: str
    accept_missing: bool
    last_file_count: int
    full_is_due: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", bytes(self.path))  # psycopg2 hands out a memoryview


@dataclass(frozen=True, slots=True)
class Known:
    """A track as the last scan left it; path is below the root."""

    id: str
    path: bytes
    path_key: str
    size: int
    mtime_ns: int
    content_hash: bytes
    state: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", bytes(self.path))
        object.__setattr__(self, "content_hash", bytes(self.content_hash))


def root(path: str | bytes | os.PathLike[str]) -> Root:
    """The library root at that folder, made if it is new; its collection_node_id is the collection."""
    raw = os.path.abspath(os.fsencode(path))
    if (found := find_root(raw)) is not None:
        return found
    with store.transaction():
        store.run(sql["lock_roots"])  # two at once would make two nodes for one folder
        if find_root(raw) is None:
            store.run(sql["add_root"], path=raw, path_text=raw.decode("utf-8", "backslashreplace"))
        return store.one(Root, sql["root"], path=raw)


def find_root(path: str | bytes | os.PathLike[str]) -> Root | None:
    return store.find(Root, sql["root"], path=os.path.abspath(os.fsencode(path)))


def root_of(collection: str) -> Root:
    return store.one(Root, sql["root_of"], collection=collection)


def root_paths() -> list[bytes]:
    """The folders that were ever scanned."""
    return [row.path for row in store.many(_Path, sql["root_paths"])]


def accept_missing(collection: str) -> None:
    """An operator's word that much of it is truly gone: the next scan may mark any number of tracks missing."""
    store.run(sql["accept_missing"], collection=collection)


def begin_scan(collection: str, *, full: bool) -> str:
    """Its id. What scans that were killed left behind is cleared."""
    store.run(sql["forget_old_scans"], collection=collection)
    return str(store.value(sql["begin_scan"], collection=collection, full=full))


def end_scan(scan: str, collection: str, *, state: str, reason: str, counts: Mapping[str, Any], full: bool) -> None:
    with store.transaction():
        if state == "ok":
            store.run(sql["forget_unused_albums"], scan=scan)
        store.run(sql["end_scan"], scan=scan, state=state, reason=reason, counts=Jsonb(dict(counts)))
        store.run(
            sql["end_root"], collection=collection, state=state, reason=reason, files=counts.get("seen", 0), full=full
        )


def inventory(collection: str) -> dict[bytes, bytes]:
    """The stamp (size and time in 16 bytes) of every active track's file as it was scanned, by path."""
    found: dict[bytes, bytes] = {}
    after = b""
    while True:
        ((joined, stamps),) = store.rows(sql["inventory"], collection=collection, after=after, limit=INVENTORY_PAGE)
        if not joined:
            return found
        paths, packed = bytes(joined).split(b"\0"), bytes(stamps)
        found.update(zip(paths, (packed[at : at + 16] for at in range(0, len(packed), 16)), strict=True))
        after = paths[-1]


def analyze() -> None:
    """Tell the planner how much there is: it takes a library that fills up for the empty one that it once was."""
    store.run(sql["analyze"])


def known(collection: str, paths: Sequence[bytes], keys: Sequence[str]) -> list[Known]:
    """Tracks at these paths, and those whose names differ from them only in how Unicode composes letters."""
    return store.many(Known, sql["known"], collection=collection, paths=list(paths), keys=list(keys))


def same_content(collection: str, hashes: Sequence[bytes]) -> list[Known]:
    """Tracks with these contents, those already missing first."""
    return store.many(Known, sql["same_content"], collection=collection, hashes=list(hashes))


def same_song(collection: str, described: Sequence[Mapping[str, Any]]) -> list[tuple[bytes, Known]]:
    """(path, track) for files that were read and tracks that are the same song by what their tags say, surest first."""
    rows = [
        {name: file[name] for name in _SONG} | {"path": file["path"].hex()} for file in described if not file["error"]
    ]
    found = store.rows(sql["same_song"], collection=collection, rows=Jsonb(rows)) if rows else []
    return [(bytes(path), Known(*track)) for path, *track in found]


#: What says which song a file is.
_SONG = (
    *("title", "titled", "artist_credit", "album", "disc_no", "track_no", "duration_ms", "recording_id"),
    "release_track_id",
)


def restore(tracks: Sequence[str]) -> int:
    """How many of them were missing and are back."""
    return store.run(sql["restore"], tracks=list(tracks))


def relocate(rows: Sequence[Mapping[str, Any]]) -> None:
    """Give tracks (id, path as hex, path_text, path_key, mtime_ns) new names; ids and all that hangs on them stay."""
    if rows:
        store.run(sql["relocate"], rows=Jsonb(list(rows)))


def keep_features(rows: Sequence[Mapping[str, Any]]) -> None:
    """Say that the sound of tracks (id, old_mtime_ns, mtime_ns) has not changed, though the time of the file has."""
    if rows:
        store.run(sql["keep_features"], rows=Jsonb(list(rows)))


def save(collection: str, rows: music_rows.Rows) -> list[str]:
    """Write files just read; the ids of their tracks."""
    if not rows.tracks:
        return []
    with store.transaction():
        store.run(sql["save_artists"], collection=collection, rows=Jsonb(list(rows.artists.values())))
        store.run(sql["save_albums"], collection=collection, rows=Jsonb(list(rows.albums.values())))
        saved = store.many(_Saved, sql["save_tracks"], collection=collection, rows=Jsonb(list(rows.tracks.values())))
        store.run(sql["forget_credits"], tracks=[row.id for row in saved])
        better = {str(id) for (id,) in store.rows(sql["credited_better"], tracks=[row.id for row in saved])}
        credited = [
            {**credit, "track_id": row.id}
            for row in saved
            if row.id not in better
            for credit in rows.credited.get(row.path, ())
        ]
        store.run(sql["save_credits"], collection=collection, rows=Jsonb(credited))
        return [row.id for row in saved]


def active_count(collection: str) -> int:
    return int(store.value(sql["active_count"], collection=collection))


def present(collection: str, paths: Sequence[bytes]) -> list[Known]:
    """The active tracks at these paths."""
    return store.many(Known, sql["present"], collection=collection, paths=list(paths))


def mark_missing(tracks: Sequence[str]) -> int:
    return store.run(sql["mark_missing"], tracks=list(tracks))


@dataclass(frozen=True, slots=True)
class _Path:
    path: bytes

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", bytes(self.path))


@dataclass(frozen=True, slots=True)
class _Saved:
    id: str
    path: bytes

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", bytes(self.path))
