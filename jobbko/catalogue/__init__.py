"""Which recording on which release a track is: MusicBrainz is asked, its answers are compared, and what fits is kept.

The place that joins clients.musicbrainz, audio.matching and store.metadata for metadata_refresh. Beyond a threshold
nothing is written, and what a search once matched is taken back when it no longer fits.
"""

from __future__ import annotations

from jobbko.store import metadata, music

PROVIDER = "musicbrainz"
#: Seconds for which an answer holds: what was found, and that nothing was.
KNOWN, ABSENT = 90 * 24 * 3600, 30 * 24 * 3600


def is_answered(entity_type: str, entity_id: str, asked: str, collection: str) -> bool:
    """Whether this very question has an answer that still holds."""
    known = metadata.answered(entity_type, entity_id, provider=PROVIDER, asked=asked, collection=collection)
    return known is not None


def set_answered(entity_type: str, entity_id: str, asked: str, collection: str, *, found: bool) -> None:
    music.set_lookup(
        entity_type,
        entity_id,
        provider=PROVIDER,
        asked=asked,
        collection=collection,
        status="ok" if found else "not_found",
        ttl=KNOWN if found else ABSENT,
    )
