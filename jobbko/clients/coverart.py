"""The Cover Art Archive: front covers by MusicBrainz id. https://musicbrainz.org/doc/Cover_Art_Archive/API"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx

from jobbko import clients, settings
from jobbko.errors import Charged, Missing

SERVICE = "coverart"
#: Seconds; archive.org behind it is slow, but a request that takes longer has hung.
_TIMEOUT = 20
_MOST_BYTES = 20 * 1024 * 1024
_IMAGE = re.compile(r"/release/([0-9a-f-]{36})/(\d+)\.(jpg|png|gif|pdf)$")


def front_covers(mbid: str, *, group: bool = False) -> Iterator[tuple[str, bytes]]:
    """(address, bytes) of the approved front covers of a release or release group, one request each, best first.

    Missing if the archive has nothing about it. A cover may turn out unusable, so the caller takes the first that is.
    """
    kind = "release-group" if group else "release"
    # The archive answers 400 to an id in capitals.
    images = _images(_get(f"{settings.COVERART_URL}/{kind}/{mbid.lower()}"))
    for release, number, suffix in filter(None, map(_front, images)):
        yield _cover(f"{settings.COVERART_URL}/release/{release}/{number}", suffix)


def _images(answer: httpx.Response) -> list[Any]:
    try:
        listing = answer.json()
    except ValueError as error:
        raise Charged("content", f"{answer.url} is not JSON: {error}") from error
    images = listing.get("images") if isinstance(listing, dict) else None
    return images if isinstance(images, list) else []


def _front(image: Any) -> tuple[str, str, str] | None:
    """(release, number, suffix) of an approved still front cover; addresses are built from these."""
    if not isinstance(image, dict) or image.get("approved") is not True:
        return None
    if image.get("front") is not True and "Front" not in image.get("types", ()):
        return None
    found = _IMAGE.search(str(image.get("image", "")))
    return None if found is None or found[3] == "pdf" else (found[1], found[2], found[3])


def _cover(address: str, suffix: str) -> tuple[str, bytes]:
    """1200 pixels if there is such a thumbnail, else the picture as it was uploaded."""
    try:
        return f"{address}-1200.jpg", _get(f"{address}-1200.jpg").content
    except Missing:
        return f"{address}.{suffix}", _get(f"{address}.{suffix}").content


def _get(address: str) -> httpx.Response:
    # archive.org answers 403 for an item that was taken down.
    return clients.request("GET", address, service=SERVICE, timeout=_TIMEOUT, limit=_MOST_BYTES, withheld=True)
