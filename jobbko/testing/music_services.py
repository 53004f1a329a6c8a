"""MusicBrainz, the Cover Art Archive, Discogs, LRCLIB and ntfy on loopback, with their real rules and errors.

    with music_services(Shop()) as services:
        services.settings  # the variables that make Jobbkø ask here

Who breaks a rule gets what the service would answer, and `services.broken` says which rule it was.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from jobbko.testing.records import Shop, Words

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AGENT = re.compile(r"\w+/[\w.]+")
#: The parts of a search, with what is escaped in them: https://musicbrainz.org/doc/Indexed_Search_Syntax
_CLAUSE = re.compile(r'(\w+):"((?:[^"\\]|\\.)*)"')
#: https://musicbrainz.org/doc/MusicBrainz_API#Subqueries
_INCLUDED = {"recordings", "artist-credits", "release-groups", "media", "isrcs", "labels"}


@dataclass(frozen=True, slots=True)
class Answer:
    """body: bytes as they are, anything else as JSON."""

    status: int = 200
    body: Any = b""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass
class Services:
    shop: Shop
    url: str = ""
    #: (service, time, path) of each request.
    asked: list[tuple[str, float, str]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)  # what ntfy was given to pass on
    #: Services that answer 503 to all, as when they are down.
    down: set[str] = field(default_factory=set)
    token: str = "a-token"
    #: What MusicBrainz allows; a test that has no time to wait may raise it, here and in the queue.
    per_second: float = 1
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def settings(self) -> dict[str, str]:
        return {
            "JOBBKO_MUSICBRAINZ_URL": f"{self.url}/ws/2",
            "JOBBKO_COVERART_URL": f"{self.url}/coverart",
            "JOBBKO_DISCOGS_URL": f"{self.url}/discogs",
            "JOBBKO_DISCOGS_TOKEN": self.token,
            "JOBBKO_LRCLIB_URL": f"{self.url}/lrclib",
            "JOBBKO_NOTIFY_URL": f"{self.url}/ntfy/topic",
        }

    def times(self, service: str) -> list[float]:
        return [at for name, at, _ in self.asked if name == service]

    def answer(self, method: str, raw: str, headers: Any, body: bytes) -> Answer:
        parts = urlsplit(raw)
        service, _, path = unquote(parts.path).lstrip("/").partition("/")
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        with self.lock:
            self.asked.append((service, time.monotonic(), raw))
            if service in self.down:
                return Answer(503, {"error": "down"})
            if not _AGENT.match(headers.get("User-Agent", "")):
                return self.breaks(service, "no User-Agent", Answer(403, {"error": "who are you?"}))
            match service:
                case "ws":
                    return self.musicbrainz(path.removeprefix("2/"), query)
                case "coverart" | "archive":
                    return self.coverart(service, path)
                case "discogs":
                    return self.discogs(path, query, headers)
                case "lrclib":
                    return self.lrclib(path, query)
                case "ntfy":
                    return self.ntfy(method, headers, body)
        return Answer(404)

    def breaks(self, service: str, rule: str, answer: Answer) -> Answer:
        self.broken.append(f"{service}: {rule}")
        return answer

    def within(self, service: str, seconds: float) -> int:
        now = time.monotonic()
        return sum(1 for at in self.times(service) if now - at < seconds)

    def musicbrainz(self, path: str, query: dict[str, str]) -> Answer:
        # Over one a second, 503 to all: https://musicbrainz.org/doc/MusicBrainz_API/Rate_Limiting
        # On average: a request that was held up on its way comes close to the next, and that is no breach.
        if self.within("ws", 3) > 3 * self.per_second + 1 or self.within("ws", 10) > 10 * self.per_second + 1:
            return self.breaks("musicbrainz", "more than one request a second", Answer(503, {"error": "rate limit"}))
        if query.get("fmt") != "json":
            return self.breaks("musicbrainz", "no fmt=json", Answer(406))
        if not set(query.get("inc", "").split()) <= _INCLUDED:
            return self.breaks(
                "musicbrainz", f"inc={query['inc']}", Answer(400, {"error": "not a valid inc parameter"})
            )
        kind, _, id = path.partition("/")
        table = {"release": self.shop.releases, "recording": self.shop.recordings}[kind]
        if id:
            found = table.get(self.shop.redirects.get(id, id))
            return Answer(404, {"error": "Not Found"}) if found is None else Answer(body=found)
        if re.sub(r"\s+AND\s+", "", _CLAUSE.sub("", query["query"])):
            return self.breaks("musicbrainz", f"not a query: {query['query']}", Answer(400, {"error": "parse error"}))
        wanted = {name: re.sub(r"\\(.)", r"\1", text) for name, text in _CLAUSE.findall(query["query"])}
        found_all = self.shop.find(table, wanted)[: int(query.get("limit", 25))]
        if kind == "release":
            # A search tells how many tracks a release has, and not which.
            found_all = [{**each, "media": [{"track-count": each["track-count"]}]} for each in found_all]
        return Answer(body={f"{kind}s": found_all, "count": len(found_all), "offset": 0})

    def coverart(self, service: str, path: str) -> Answer:
        kind, id, *picture = path.split("/")
        if not _ID.fullmatch(id):
            return self.breaks("coverart", "an id that is not in small letters", Answer(400))
        if (cover := self.shop.covers.get(id)) is None:
            return Answer(404)
        if service == "coverart":  # all of it lies at archive.org
            return Answer(307, headers=(("Location", f"{self.url}/archive/{path}"),))
        if picture:
            return Answer(body=cover)
        release = id if kind == "release" else self._release_of(id)
        image = {
            "approved": True,
            "front": True,
            "types": ["Front"],
            "image": f"{self.url}/coverart/release/{release}/1.jpg",
        }
        return Answer(body={"images": [image], "release": f"https://musicbrainz.org/release/{release}"})

    def _release_of(self, group: str) -> str:
        of_group = [id for id, each in self.shop.releases.items() if each["release-group"]["id"] == group]
        self.shop.covers.setdefault(of_group[0], self.shop.covers[group])
        return of_group[0]

    def discogs(self, path: str, query: dict[str, str], headers: Any) -> Answer:
        if headers.get("Authorization") != f"Discogs token={self.token}":
            return self.breaks("discogs", "no token", Answer(401, {"message": "You must authenticate"}))
        if self.within("discogs", 60) > 60:
            return self.breaks("discogs", "more than 60 requests a minute", Answer(429, {"message": "too quick"}))
        if path == "database/search":
            results = [
                {"title": f"{artist} - {album}", "cover_image": f"{self.url}/discogs/image/{place}"}
                for place, (artist, album) in enumerate(self.shop.discogs)
                if album.casefold() == query["release_title"].casefold()
            ]
            return Answer(body={"results": results})
        return Answer(body=list(self.shop.discogs.values())[int(path.rpartition("/")[2])])

    def lrclib(self, path: str, query: dict[str, str]) -> Answer:
        title, artist = query.get("track_name", ""), query.get("artist_name", "")
        if not title or (path == "api/get" and not artist):
            return self.breaks("lrclib", "no name", Answer(400, {"message": "missing parameter"}))
        if "duration" in query and not 1 <= float(query["duration"]) <= 3600:
            return self.breaks("lrclib", "a length out of bounds", Answer(400, {"message": "duration"}))
        if path == "api/search":
            found = [each for each in self.shop.words if _plain(title) in _plain(each.title)]
            return Answer(body=[_record(place, each) for place, each in enumerate(found[:20])])
        for place, each in enumerate(self.shop.words):
            same = (_plain(each.title), _plain(each.artist)) == (_plain(title), _plain(artist))
            right_album = "album_name" not in query or _plain(query["album_name"]) == _plain(each.album)
            right_length = "duration" not in query or abs(float(query["duration"]) - each.seconds) <= 2
            if same and right_album and right_length:
                return Answer(body=_record(place, each))
        return Answer(404, {"code": 404, "name": "TrackNotFound", "message": "Failed to find specified track"})

    def ntfy(self, method: str, headers: Any, body: bytes) -> Answer:
        if self.within("ntfy", 5) > 61:
            return self.breaks("ntfy", "more than 60 at once", Answer(429, {"code": 42901}))
        if len(body) > 4096:
            return self.breaks("ntfy", "longer than 4096 bytes", Answer(413, {"code": 41301}))
        self.told.append(body.decode())
        return Answer(body={"id": "x", "event": "message", "message": body.decode()})


def _plain(name: str) -> str:
    """As LRCLIB compares names: small letters, without punctuation."""
    return " ".join(re.findall(r"\w+", name.casefold()))


def _record(place: int, words: Words) -> dict[str, Any]:
    return {
        "id": place + 1,
        "trackName": words.title,
        "artistName": words.artist,
        "albumName": words.album,
        "duration": words.seconds,
        "instrumental": words.instrumental,
        "plainLyrics": words.plain,
        "syncedLyrics": words.synced,
    }


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # whoever asked was killed


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        services: Services = self.server.services  # type: ignore[attr-defined]
        answer = services.answer(self.command, self.path, self.headers, body)
        raw = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        for name, value in (*answer.headers, ("Content-Length", str(len(raw)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    do_GET = do_POST = do_PUT = _handle

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextlib.contextmanager
def music_services(shop: Shop, *, per_second: float = 1) -> Iterator[Services]:
    """On loopback, until the block ends."""
    server = _Server(("127.0.0.1", 0), _Handler)
    services = Services(shop, f"http://127.0.0.1:{server.server_port}", per_second=per_second)
    server.services = services  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield services
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
