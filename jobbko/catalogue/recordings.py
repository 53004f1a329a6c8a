"""Decide which recording a track without an album is: the one that its tags name, else the nearest of a search."""

from __future__ import annotations

from jobbko import catalogue, store
from jobbko.audio import matching
from jobbko.catalogue import rows
from jobbko.clients import musicbrainz
from jobbko.clients.musicbrainz_answers import Recording
from jobbko.errors import Missing
from jobbko.store import lookups, metadata
from jobbko.store.lookups import Question
from jobbko.store.metadata import Song


def look_up(track_id: str, collection: str) -> bool:
    """Ask what was not asked yet, and keep what fits; whether that has brought an id that was not known."""
    song = metadata.song(track_id)
    tagged = song.mb_recording_id if song.mbid_source == "tag" else None
    asked = repr((tagged, song.titled and song.title, song.artist_credit, song.duration_ms))
    question = Question("track", track_id, catalogue.PROVIDER, asked, collection)
    if lookups.is_answered(question):
        return False
    found = _named(collection, tagged) or _nearest(song)
    with store.transaction():
        if found is None:
            metadata.forget_matches([track_id])
        else:
            recording, distance = found
            metadata.set_track_matches(
                collection,
                [rows.alone(track_id, recording, distance)],
                rows.credits(track_id, recording.credits),
            )
        lookups.answer(question, found=found is not None, ttl=catalogue.KNOWN if found else catalogue.ABSENT)
    return found is not None and found[0].id != song.mb_recording_id


def _named(collection: str, mbid: str | None) -> tuple[Recording, float] | None:
    if mbid is None:
        return None
    try:
        recording = musicbrainz.recording(mbid)
    except Missing:
        return None
    if recording.id != mbid:
        metadata.add_redirect(collection, mbid, recording.id)
    return recording, 0.0


def _nearest(song: Song) -> tuple[Recording, float] | None:
    """None without a title and an artist: a name of a file finds something, and never the right thing for sure."""
    if not song.titled or not song.artist_credit:
        return None
    ours = rows.ours(song)
    found = [
        (matching.songs(ours, rows.recorded(recording), artists=True, places=False), -place, recording)
        for place, recording in enumerate(musicbrainz.search_recordings(song.title, song.artist_credit))
    ]
    near = [each for each in found if each[0] <= matching.RECORDING]
    if not near:
        return None
    distance, _, recording = min(near, key=lambda each: (each[0], -each[1]))
    return recording, distance
