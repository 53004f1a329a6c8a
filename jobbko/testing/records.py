"""A record shop for tests: releases as MusicBrainz describes them, with covers and lyrics, ids made from names."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


def mbid(*said: object) -> str:
    """The same for the same words."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(map(str, said))))


@dataclass(frozen=True, slots=True)
class Words:
    """What LRCLIB has of a song: plain and synced both None and not instrumental is a record that nobody has filled."""

    title: str
    artist: str
    album: str
    seconds: float
    plain: str | None = None
    synced: str | None = None
    instrumental: bool = False


@dataclass
class Shop:
    """Everything that the services know. redirects: old id to new."""

    releases: dict[str, dict[str, Any]] = field(default_factory=dict)
    recordings: dict[str, dict[str, Any]] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    covers: dict[str, bytes] = field(default_factory=dict)  # by id of a release or a release group
    discogs: dict[tuple[str, str], bytes] = field(default_factory=dict)  # by artist and album
    words: list[Words] = field(default_factory=list)

    def release(
        self,
        title: str,
        artist: str,
        tracks: Sequence[tuple[str, float] | tuple[str, float, str]],
        *,
        edition: str = "",
        date: str = "2001-05-21",
        kind: str = "Album",
        formats: Sequence[str] = ("CD",),
        per_disc: int = 1000,
        **more: Any,
    ) -> str:
        """Put one on the shelf; its id. tracks: (title, seconds) or, on a compilation, (title, seconds, artist)."""
        id = mbid("release", title, artist, edition)
        discs = [tracks[start : start + per_disc] for start in range(0, len(tracks), per_disc)]
        media = [
            {
                "position": number,
                "format": formats[min(number, len(formats)) - 1],
                "track-count": len(disc),
                "tracks": [self._track(id, number, place, each, artist) for place, each in enumerate(disc, start=1)],
            }
            for number, disc in enumerate(discs, start=1)
        ]
        self.releases[id] = {
            "id": id,
            "title": title,
            "artist-credit": credit(artist),
            "date": date,
            "country": "NO",
            "status": "Official",
            "barcode": "",
            "track-count": len(tracks),
            "media": media,
            "release-group": {
                "id": mbid("group", title, artist),
                "primary-type": kind,
                "secondary-types": [],
                "first-release-date": date,
            },
            **more,
        }
        return id

    def _track(self, release: str, disc: int, place: int, said: Sequence[Any], artist: str) -> dict[str, Any]:
        title, seconds, by = (*said, artist)[:3]
        recording = self.recording(title, by, seconds)
        return {
            "id": mbid("track", release, disc, place),
            "position": place,
            "number": str(place),
            "title": title,
            "length": round(seconds * 1000),
            "artist-credit": credit(by),
            "recording": self.recordings[recording],
        }

    def recording(self, title: str, artist: str, seconds: float) -> str:
        id = mbid("recording", title, artist)
        self.recordings.setdefault(
            id,
            {
                "id": id,
                "title": title,
                "length": round(seconds * 1000),
                "video": False,
                "isrcs": [],
                "artist-credit": credit(artist),
            },
        )
        return id

    def find(self, table: dict[str, dict[str, Any]], wanted: dict[str, str]) -> list[dict[str, Any]]:
        """Those whose names hold every word that is asked for, or nearly all; the most like it first."""
        scored = []
        for each in table.values():
            names = {"release": each["title"], "recording": each["title"], "artist": printed(each["artist-credit"])}
            shares = [_share(text, names[name]) for name, text in wanted.items()]
            if min(shares) > 0.5:
                scored.append((round(100 * sum(shares) / len(shares)), each))
        scored.sort(key=lambda found: -found[0])
        return [{**each, "score": score} for score, each in scored]


def credit(artist: str) -> list[dict[str, Any]]:
    """ "A & B feat. C" as the parts that MusicBrainz makes of it."""
    parts = re.split(r"( & | feat\. )", artist)
    return [
        {
            "name": name,
            "joinphrase": parts[place + 1] if place + 1 < len(parts) else "",
            "artist": {"id": mbid("artist", name), "name": name, "sort-name": _sorted(name), "disambiguation": ""},
        }
        for place, name in enumerate(parts)
        if place % 2 == 0
    ]


def printed(credits: list[dict[str, Any]]) -> str:
    return "".join(part["name"] + part["joinphrase"] for part in credits)


def _sorted(name: str) -> str:
    first, _, last = name.rpartition(" ")
    return f"{last}, {first}" if first else name


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _share(wanted: str, name: str) -> float:
    asked, has = _words(wanted), _words(name)
    return len(asked & has) / max(len(asked | has), 1)
