"""Discogs: cover pictures of releases, found by name. Needs a token. https://www.discogs.com/developers"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from jobbko import clients, settings
from jobbko.errors import Charged

SERVICE = "discogs"
_TIMEOUT = 20
_MOST_BYTES = 20 * 1024 * 1024
#: Pictures that are fetched for one album, at most.
_MOST = 2


def configured() -> bool:
    """Searches and pictures need a token; without one, nobody is asked."""
    return bool(settings.DISCOGS_TOKEN)


def search(title: str, artist: str) -> list[tuple[str, str]]:
    """(title, as "Artist - Album"; address of the cover) of each release found that has a cover."""
    answer = _get(
        f"{settings.DISCOGS_URL}/database/search",
        params={"type": "release", "release_title": title, "artist": artist, "per_page": 10},
    )
    try:
        found = answer.json()
    except ValueError as error:
        raise Charged("content", f"Discogs' answer is not JSON: {error}") from error
    results = found.get("results") if isinstance(found, dict) else None
    return [
        (str(each.get("title", "")), str(each["cover_image"]))
        for each in (results if isinstance(results, list) else [])
        if isinstance(each, dict) and _is_theirs(str(each.get("cover_image", "")))
    ]


def covers(addresses: list[str]) -> Iterator[tuple[str, bytes]]:
    """(address, bytes), one request each; a caller takes the first that is usable."""
    for address in addresses[:_MOST]:
        yield address, _get(address).content


def _is_theirs(address: str) -> bool:
    """Whether it is an address of Discogs' own: the answer is not to send us anywhere else, with the token."""
    host, own = urlsplit(address).hostname or "", urlsplit(settings.DISCOGS_URL).hostname or ""
    # spacer.gif stands for "no picture".
    return (host == own or host.endswith(".discogs.com")) and not address.endswith("spacer.gif")


def _get(address: str, **kwargs: Any) -> Any:
    headers = {"Authorization": f"Discogs token={settings.DISCOGS_TOKEN}"}
    return clients.request(
        "GET", address, service=SERVICE, timeout=_TIMEOUT, limit=_MOST_BYTES, headers=headers, **kwargs
    )
