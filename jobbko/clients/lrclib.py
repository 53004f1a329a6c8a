"""LRCLIB: the words of songs, with their times where somebody has set them. https://lrclib.net/docs"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jobbko import clients, settings
from jobbko.errors import Charged

SERVICE = "lrclib"
_TIMEOUT = 20
_MOST_BYTES = 4 * 1024 * 1024
#: Seconds that it takes for a length; others it refuses with 400.
LENGTHS = range(1, 3601)


@dataclass(frozen=True, slots=True)
class Found:
    """synced_lrc and plain are None if nobody has contributed them; instrumental: there are none to contribute."""

    id: str
    title: str
    artist: str
    album: str
    seconds: float | None
    instrumental: bool
    plain: str | None
    synced_lrc: str | None


def configured() -> bool:
    """Whether it is to be asked at all: JOBBKO_LRCLIB_URL=off says no."""
    return settings.LRCLIB_URL != "off"


def get(title: str, artist: str, *, album: str = "", seconds: int | None = None) -> Found:
    """The one that agrees in all that is given, the length within two seconds. Missing if there is none."""
    query: dict[str, Any] = {"track_name": title, "artist_name": artist}
    if album:
        query["album_name"] = album
    if seconds in LENGTHS:
        query["duration"] = seconds
    answer = _get("get", query)
    if not isinstance(answer, dict):
        raise Charged("content", "LRCLIB answered with something else than an object")
    return _found(answer)


def search(title: str, artist: str) -> list[Found]:
    """Up to twenty that resemble it; whoever asks must look at what they are."""
    answer = _get("search", {"track_name": title, "artist_name": artist})
    return [_found(each) for each in answer if isinstance(each, dict)] if isinstance(answer, list) else []


def _get(path: str, query: dict[str, Any]) -> Any:
    found = clients.request(
        "GET",
        f"{settings.LRCLIB_URL}/api/{path}",
        service=SERVICE,
        timeout=_TIMEOUT,
        limit=_MOST_BYTES,
        params=query,
    )
    try:
        return found.json()
    except ValueError as error:
        raise Charged("content", f"{found.url} is not JSON: {error}") from error


def _found(answer: dict[str, Any]) -> Found:
    seconds = answer.get("duration")
    return Found(
        id=str(answer.get("id") or "")[:50],
        title=_text(answer.get("trackName")) or "",
        artist=_text(answer.get("artistName")) or "",
        album=_text(answer.get("albumName")) or "",
        seconds=float(seconds) if isinstance(seconds, int | float) else None,
        instrumental=answer.get("instrumental") is True,
        plain=_text(answer.get("plainLyrics")),
        synced_lrc=_text(answer.get("syncedLyrics")),
    )


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
