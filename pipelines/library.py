"""A scan of the music library, and what each track that it finds goes through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dramatiq import pipeline

from actors.music.artwork_download import artwork_download
from actors.music.audio_analysis import audio_analysis, unanalysed
from actors.music.filesystem_rescan import filesystem_rescan
from actors.music.lyrics_download import lyrics_download
from actors.music.metadata_refresh import forget_refreshed, metadata_refresh, unrefreshed
from broker import follows
from pipelines import chain


def scan(root: str | None = None, *, full: bool = False) -> pipeline:
    """Scan one root, or all; then what each track that is new or changed needs: see `each_track`."""
    # Alone in its flow: what follows is `each_track`, as after the nightly scan.
    return pipeline([filesystem_rescan.message(root=root, full=full)])


def reindex(root: str | None = None) -> pipeline:
    """Everything anew: every file of one root, or of all, is read again, and every track's metadata looked up again.

    What a service answered is still known for as long as that holds, and what was measured stays measured.
    """
    forget_refreshed(root)
    return scan(root, full=True)


def refresh(track_id: str) -> pipeline:
    """The sound of one track, again, and its cover."""
    return chain(audio_analysis.message(track_id=track_id), artwork_download.message(track_id=track_id))


@follows(filesystem_rescan)
def each_track(result: dict[str, Any]) -> Iterator[pipeline]:
    """What follows a scan, in each track's own collection: measurement and cover; beside them, its metadata.

    Apart from each other, so that a MusicBrainz that is away holds up nothing that needs only this machine. Of all
    tracks that wait for it, not only those that this scan found: one that was killed leaves the rest to the next.
    """
    for root in result["roots"]:
        if root["state"] in ("absent", "empty"):
            continue
        collection = root["collection"]
        for track_id in unanalysed([collection]):
            yield chain(
                audio_analysis.message(track_id=track_id),
                artwork_download.message(track_id=track_id),
                collection=collection,
            )
        for track_id in unrefreshed([collection]):
            yield chain(metadata_refresh.message(track_id=track_id), collection=collection)


@follows(metadata_refresh)
def more_about_it(result: dict[str, Any]) -> Iterator[pipeline]:
    """What follows metadata: the words, found by name; and the cover, if there is a new id to ask for it by."""
    yield chain(lyrics_download.message(track_id=result["track_id"]))
    if result["new_ids"]:
        yield chain(artwork_download.message(track_id=result["track_id"]))
