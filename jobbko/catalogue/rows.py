"""Our tracks and MusicBrainz's, as songs to compare and as rows to keep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobbko.audio import matching
from jobbko.clients.musicbrainz_answers import Credit, Recording, ReleaseTrack
from jobbko.store.metadata import Song


def ours(song: Song) -> matching.Song:
    return matching.Song(
        title=song.title if song.titled else "",
        artist=song.artist_credit,
        seconds=song.duration_ms / 1000 if song.duration_ms else None,
        disc=song.disc_no,
        number=song.track_no,
        # A recording that the tags name is certain; one that a search found is what is being decided.
        id=song.mb_recording_id if song.mbid_source == "tag" else None,
    )


def theirs(track: ReleaseTrack) -> matching.Song:
    return matching.Song(track.title, track.artist, _seconds(track), track.disc, track.number, track.recording_id)


def recorded(recording: Recording) -> matching.Song:
    return matching.Song(recording.title, recording.artist, _seconds(recording), id=recording.id)


def _seconds(described: ReleaseTrack | Recording) -> float | None:
    return described.length_ms / 1000 if described.length_ms else None


def on_release(track_id: str, track: ReleaseTrack, distance: float) -> dict[str, Any]:
    return {
        "track_id": track_id,
        "recording_id": track.recording_id,
        "release_track_id": track.id,
        "distance": distance,
        "title": track.title,
        "artist_credit": track.artist,
        "track_no": track.number,
        "disc_no": track.disc,
        "isrc": next(iter(track.isrcs), None),
    }


def alone(track_id: str, recording: Recording, distance: float) -> dict[str, Any]:
    return {
        "track_id": track_id,
        "recording_id": recording.id,
        "distance": distance,
        "title": recording.title,
        "artist_credit": recording.artist,
        "isrc": next(iter(recording.isrcs), None),
    }


def credits(track_id: str, credited: Iterable[Credit]) -> list[dict[str, Any]]:
    """Who is credited, by position from 1; those whom MusicBrainz gives no id are left to the tags."""
    return [
        {
            "track_id": track_id,
            "position": position,
            "mb_artist_id": credit.artist_id,
            "credited_as": credit.name,
            "join_phrase": credit.join_phrase,
            "name": credit.artist_name,
            "sort_name": credit.sort_name,
            "disambiguation": credit.disambiguation,
        }
        for position, credit in enumerate(credited, start=1)
        if credit.artist_id is not None
    ]
