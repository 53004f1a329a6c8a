"""What MusicBrainz answers, as plain values. Whatever is not there, or of another kind than documented, is empty."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from jobbko.errors import Charged

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
#: Media that hold pictures with the sound; their tracks are not what a music file was made from.
_VIDEO = re.compile(r"DVD-Video|DVD$|Blu-ray(?! Audio)|VHS|LaserDisc|Video", re.IGNORECASE)
_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class Credit:
    """One of the artists of a credit: as it is written there, and who it is."""

    name: str
    join_phrase: str
    artist_id: str | None
    artist_name: str
    sort_name: str
    disambiguation: str


@dataclass(frozen=True, slots=True)
class Recording:
    """A performance as recorded."""

    id: str
    title: str
    length_ms: int | None
    credits: tuple[Credit, ...]
    isrcs: tuple[str, ...]

    @property
    def artist(self) -> str:
        return credited(self.credits)


@dataclass(frozen=True, slots=True)
class ReleaseTrack:
    """A recording's place on a release. disc and number count from 1; number runs within its disc."""

    id: str
    disc: int
    number: int
    title: str
    length_ms: int | None
    credits: tuple[Credit, ...]
    recording_id: str | None
    isrcs: tuple[str, ...]

    @property
    def artist(self) -> str:
        return credited(self.credits)


@dataclass(frozen=True, slots=True)
class Release:
    """An issued album. Dates are as exact as they are known: "1999", "1999-05", "1999-05-31" or ""."""

    id: str
    title: str
    credits: tuple[Credit, ...]
    date: str
    country: str
    barcode: str
    group_id: str | None
    album_type: str
    secondary_types: tuple[str, ...]
    original_date: str
    disc_total: int
    tracks: tuple[ReleaseTrack, ...]  # those to hear; what is on a DVD's side is left out

    @property
    def artist(self) -> str:
        return credited(self.credits)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A release that a search has found. score: 0 to 100, as MusicBrainz ranks it."""

    id: str
    score: int
    title: str
    artist: str
    track_count: int
    date: str
    official: bool


def credited(credits: Iterable[Credit]) -> str:
    """As it is printed: "Queen & David Bowie"."""
    return "".join(credit.name + credit.join_phrase for credit in credits)


def release(answer: dict[str, Any]) -> Release:
    group, media = _table(answer.get("release-group")), _tables(answer.get("media"))
    return Release(
        id=_own_id(answer),
        title=_text(answer.get("title")),
        credits=_credits(answer),
        date=_date(answer.get("date")),
        country=_text(answer.get("country"))[:2],
        barcode=_text(answer.get("barcode"))[:20],
        group_id=_id(group.get("id")),
        album_type=_text(group.get("primary-type")),
        secondary_types=tuple(_text(kind) for kind in _list(group.get("secondary-types"))[:10]),
        original_date=_date(group.get("first-release-date")),
        disc_total=len(media),
        tracks=tuple(track for medium in media for track in _tracks(medium)),
    )


def recording(answer: dict[str, Any]) -> Recording:
    return Recording(
        id=_own_id(answer),
        title=_text(answer.get("title")),
        length_ms=_number(answer.get("length")),
        credits=_credits(answer),
        isrcs=_isrcs(answer),
    )


def recordings(answer: dict[str, Any]) -> list[Recording]:
    return [recording(found) for found in _tables(answer.get("recordings")) if _id(found.get("id"))]


def candidates(answer: dict[str, Any]) -> list[Candidate]:
    return [
        Candidate(
            id=_own_id(found),
            score=_number(found.get("score")) or 0,
            title=_text(found.get("title")),
            artist=credited(_credits(found)),
            track_count=_number(found.get("track-count")) or 0,
            date=_date(found.get("date")),
            official=_text(found.get("status")) in ("", "Official"),
        )
        for found in _tables(answer.get("releases"))
        if _id(found.get("id"))
    ]


def _tracks(medium: dict[str, Any]) -> Iterator[ReleaseTrack]:
    if _VIDEO.search(_text(medium.get("format"))):
        return
    disc = _number(medium.get("position")) or 1
    for count, found in enumerate(_tables(medium.get("tracks")), start=1):
        recorded = _table(found.get("recording"))
        if recorded.get("video") is True or (id := _id(found.get("id"))) is None:
            continue
        yield ReleaseTrack(
            id=id,
            disc=disc,
            number=_number(found.get("position")) or count,
            title=_text(found.get("title")) or _text(recorded.get("title")),
            length_ms=_number(found.get("length")) or _number(recorded.get("length")),
            credits=_credits(found) or _credits(recorded),
            recording_id=_id(recorded.get("id")),
            isrcs=_isrcs(recorded),
        )


def _credits(said: dict[str, Any]) -> tuple[Credit, ...]:
    found = []
    for part in _tables(said.get("artist-credit"))[:50]:
        artist = _table(part.get("artist"))
        found.append(
            Credit(
                name=_text(part.get("name")) or _text(artist.get("name")),
                join_phrase=_said(part.get("joinphrase")),
                artist_id=_id(artist.get("id")),
                artist_name=_text(artist.get("name")) or _text(part.get("name")),
                sort_name=_text(artist.get("sort-name")),
                disambiguation=_text(artist.get("disambiguation")),
            )
        )
    return tuple(credit for credit in found if credit.name)


def _own_id(answer: dict[str, Any]) -> str:
    if (found := _id(answer.get("id"))) is None:
        raise Charged("content", "MusicBrainz answered without an id")
    return found


def _id(said: Any) -> str | None:
    found = _text(said).lower()
    return found if _UUID.fullmatch(found) else None


def _isrcs(said: dict[str, Any]) -> tuple[str, ...]:
    return tuple(_text(isrc)[:12] for isrc in _list(said.get("isrcs"))[:20] if isinstance(isrc, str))


def _date(said: Any) -> str:
    found = re.match(r"\d{4}(-\d{2}(-\d{2})?)?", _text(said))
    return found[0] if found else ""


def _said(value: Any) -> str:
    """With the spaces around it: a join phrase is " & "."""
    return value[:_LONGEST] if isinstance(value, str) else ""


def _text(value: Any) -> str:
    return _said(value).strip()


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31 else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _tables(value: Any) -> list[dict[str, Any]]:
    return [item for item in _list(value) if isinstance(item, dict)]
