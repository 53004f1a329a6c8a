"""Find the words of a track: in the file, beside it, else at LRCLIB; with times where there are any.

Safe to repeat: one row for each source, a person's own are never touched, no file is written, and what LRCLIB does not
have, or has as instrumental, is not asked for again for a while.
"""

from __future__ import annotations

from typing import Any

from broker import actor, completion
from jobbko.audio import folders, lyrics, matching
from jobbko.clients import lrclib
from jobbko.clients.lrclib import Found
from jobbko.errors import Missing
from jobbko.store import lookups, metadata, music
from jobbko.store.lookups import Question

#: Seconds that "LRCLIB has none" holds: people contribute.
ABSENT = 14 * 24 * 3600
#: Seconds for which what it has holds.
KNOWN = 180 * 24 * 3600
#: Seconds by which lengths of one recording may differ; LRCLIB's own rule.
SAME_LENGTH = 2.0


@actor(priority=1, dedupe=True)
def lyrics_download(track_id: str) -> dict[str, Any]:
    track = music.track(track_id)
    folders.look(track.root, track.path, library=f"library:{track.collection_node_id}")
    local(track)
    if not any(words.synced_lrc for words in metadata.lyrics(track_id) if words.source != "lrclib"):
        download(track)
    with completion() as done:
        known = metadata.lyrics(track_id)
        done.result = {
            "sources": [words.source for words in known],
            "synced": any(words.synced_lrc for words in known),
            "instrumental": any(words.instrumental for words in known),
        }
    return dict(done.result)


def local(track: music.Track) -> None:
    """What the file and its neighbours say now, before anybody is asked."""
    for source, found in (("embedded", lyrics.embedded(track.file)), ("sidecar", lyrics.beside(track.file))):
        if found is None:
            metadata.forget_lyrics(track.id, source)
        else:
            metadata.set_lyrics(
                track.id, source, synced_lrc=found.synced_lrc, plain=found.plain, language=found.language
            )


def download(track: music.Track) -> None:
    song = metadata.song(track.id)
    named = track.artist_credit and (song.titled or song.mb_recording_id)  # by more than the name of its file
    if not named or not lrclib.configured():
        return
    album = metadata.album(track.album_id).title if track.album_id else ""
    seconds = song.duration_ms / 1000 if song.duration_ms else None
    asked = repr((track.title, track.artist_credit, album, seconds and round(seconds)))
    question = Question("track", track.id, lrclib.SERVICE, asked, track.collection_node_id)
    if lookups.is_answered(question):
        return
    found = exact(track, album, seconds) or searched(track, seconds)
    if found is None:
        metadata.forget_lyrics(track.id, "lrclib")
    else:
        keep(track.id, *found)
    # Words without times may get some; what is instrumental stays so.
    whole = found is not None and (found[0].instrumental or found[0].synced_lrc is not None)
    lookups.answer(question, found=whole, ttl=KNOWN if whole else ABSENT)


def exact(track: music.Track, album: str, seconds: float | None) -> tuple[Found, str] | None:
    """By title, artist, album and length; then without the album, which is often called otherwise there."""
    length = round(seconds) if seconds else None
    for name in dict.fromkeys((album, "")):
        try:
            found = lrclib.get(track.title, track.artist_credit, album=name, seconds=length)
        except Missing:
            continue
        if usable(found, track, seconds):
            return found, "get"
    return None


def searched(track: music.Track, seconds: float | None) -> tuple[Found, str] | None:
    """The best of what resembles it and is it: with times, then the nearest in length."""
    found = [each for each in lrclib.search(track.title, track.artist_credit) if usable(each, track, seconds)]
    if not found:
        return None
    apart = {id(each): abs((each.seconds or 0) - (seconds or 0)) for each in found}
    return min(found, key=lambda each: (each.synced_lrc is None, apart[id(each)])), "search"


def usable(found: Found, track: music.Track, seconds: float | None) -> bool:
    """Whether it is this song, and there is something in it: a record that nobody has filled is not instrumental."""
    if not (found.instrumental or found.plain or found.synced_lrc):
        return False
    if matching.folded(found.title) != matching.folded(track.title):
        return False
    if matching.folded(found.artist) != matching.folded(track.artist_credit):
        return False
    if seconds is None or found.seconds is None:
        return seconds is None
    # A last line after the end is another recording's, or nobody's.
    fits = found.synced_lrc is None or lyrics.last_second(found.synced_lrc) <= seconds + SAME_LENGTH
    return abs(found.seconds - seconds) <= SAME_LENGTH and fits


def keep(track_id: str, found: Found, kind: str) -> None:
    synced = lyrics.read(found.synced_lrc) if found.synced_lrc else None
    metadata.set_lyrics(
        track_id,
        "lrclib",
        synced_lrc=synced.synced_lrc if synced else None,
        plain=found.plain or (synced.plain if synced else None),
        instrumental=found.instrumental,
        provider_id=found.id,
        match_kind=kind,
        matched_duration_ms=round(found.seconds * 1000) if found.seconds else None,
    )
