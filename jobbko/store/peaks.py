"""Waveforms of recordings."""

from __future__ import annotations

from jobbko import store

sql = store.queries("peaks.sql")


def keep(media_node_id: str, *, collection: str, sha256: str, length: int, duration_ms: int, dat: bytes) -> bool:
    """Keep the waveform of a recording; False if it is of the same sound as the one that is kept."""
    given = {"sha256": sha256, "length": length, "duration_ms": duration_ms, "dat": dat}
    return bool(store.run(sql["keep"], media_node_id=media_node_id, collection=collection, **given))
