"""MusicBrainz: releases and recordings, by id or by search. https://musicbrainz.org/doc/MusicBrainz_API

One request a second for all workers together, else it answers 503 to every one of them
(https://musicbrainz.org/doc/MusicBrainz_API/Rate_Limiting); the permit that every request asks for sees to that.
"""

from __future__ import annotations

import re
from typing import Any

from jobbko import clients, settings
from jobbko.clients import musicbrainz_answers as answers
from jobbko.clients.musicbrainz_answers import Candidate, Recording, Release
from jobbko.errors import Charged

SERVICE = "musicbrainz"
#: What is asked about a release, and about a recording.
_RELEASE = "recordings artist-credits release-groups media isrcs"
_RECORDING = "artist-credits isrcs"
_TIMEOUT = 20
_MOST_BYTES = 16 * 1024 * 1024
#: Lucene's own characters, which a title may contain: https://lucene.apache.org/core/9_0_0/queryparser/
_LUCENE = re.compile(r'([+\-&|!(){}\[\]^"~*?:\\/])')


def configured() -> bool:
    """Whether it is to be asked at all: JOBBKO_MUSICBRAINZ_URL=off says no."""
    return settings.MUSICBRAINZ_URL != "off"


def release(mbid: str) -> Release:
    """The release with all its tracks. Missing if there is none; its id is another if it was merged into that."""
    return answers.release(_get(f"release/{mbid.lower()}", inc=_RELEASE))


def recording(mbid: str) -> Recording:
    """Missing if there is none; its id is another if it was merged into that."""
    return answers.recording(_get(f"recording/{mbid.lower()}", inc=_RECORDING))


def search_releases(title: str, artist: str, *, limit: int = 15) -> list[Candidate]:
    """Releases of about that name, best first; artist "" for any."""
    query = f'release:"{escaped(title)}"' + (f' AND artist:"{escaped(artist)}"' if artist else "")
    return answers.candidates(_get("release", query=query, limit=limit))


def search_recordings(title: str, artist: str, *, limit: int = 15) -> list[Recording]:
    """Recordings of about that name, best first."""
    query = f'recording:"{escaped(title)}" AND artist:"{escaped(artist)}"'
    return answers.recordings(_get("recording", query=query, limit=limit))


def escaped(text: str) -> str:
    r"""So that it is a text and no query: AC/DC is AC\/DC."""
    return _LUCENE.sub(r"\\\1", text)


def _get(path: str, **query: Any) -> dict[str, Any]:
    found = clients.request(
        "GET",
        f"{settings.MUSICBRAINZ_URL}/{path}",
        service=SERVICE,
        timeout=_TIMEOUT,
        limit=_MOST_BYTES,
        params=query | {"fmt": "json"},
    )
    try:
        answer = found.json()
    except ValueError as error:
        raise Charged("content", f"{found.url} is not JSON: {error}") from error
    if not isinstance(answer, dict):
        raise Charged("content", f"{found.url} is no JSON object")
    return answer
