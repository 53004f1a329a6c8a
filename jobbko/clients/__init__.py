"""One module for each service we call. They share this HTTP seam and one reading of status codes.

A client speaks the service's language on one side and plain values on the other, and raises only classes from
jobbko.errors. It touches no database and knows no job.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

import httpx

import jobbko
from jobbko import settings
from jobbko.clients.reply import Reply
from jobbko.errors import Charged, GateClosed, Missing, Throttled

#: The one seam for tests: they replace it with a transport of their own.
transport: httpx.BaseTransport | None = None

#: Asked before each request with the service's name; broker.py fills it with the global rates.
permit: Callable[[str], None] = lambda service: None  # noqa: E731


def request(
    method: str,
    url: str,
    *,
    service: str,
    timeout: float = 30,
    limit: int = 32 * 1024 * 1024,
    withheld: bool = False,
    **kwargs: Any,
) -> httpx.Response:
    """The whole response, if it is a success; else the error class that says what to do about it.

    401, 403 → GateClosed("auth"), or with `withheld` Missing, for a service that keeps single things to itself;
    404, 410 → Missing; 408, 425, 429, 502, 503, 529, no answer, no connection → Throttled; other 5xx →
    Charged("internal"), which the service is suspected of; other 4xx → Charged("content").
    An answer of more than `limit` bytes is not read to its end: Charged("content"); nor is one that goes on coming
    for three times `timeout`, the seconds that each part of it may take: Throttled.
    """
    try:
        with _client(timeout=timeout, follow_redirects=True) as http:
            permit(service)  # last: whatever comes between it and its request shortens the gap to the next
            until = time.monotonic() + 3 * timeout
            with http.stream(method, url, **kwargs) as response:
                _judge(service, f"{method} {url}: {response.status_code}", response, withheld)
                response._content = _bounded(response, limit, url, until)
                return response
    except httpx.TransportError as error:
        raise Throttled(service, message=f"{method} {url}: {type(error).__name__} {error}") from error


def exchange(
    method: str, url: str, *, service: str, provider: str, timeout: float, limit: int = 32 * 1024 * 1024, **kwargs: Any
) -> Reply:
    """The answer as it is, whatever its status, or what happened instead of one.

    For services whose bodies say more than their status. No redirect is followed: there is a key in the headers.
    timeout: seconds for the whole answer.
    """
    try:
        with _client(timeout=httpx.Timeout(timeout, connect=10)) as http:
            permit(service)
            until = time.monotonic() + timeout
            with http.stream(method, url, **kwargs) as response:
                content = _bounded(response, limit, url, until)
                return Reply(provider, response.status_code, response.headers, _parsed(content, response.encoding))
    except (httpx.HTTPError, httpx.InvalidURL, Charged) as error:
        return Reply(provider, None, {}, None, error)


def _parsed(content: bytes, encoding: str | None) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode(encoding or "utf-8", "replace")


def _client(**options: Any) -> httpx.Client:
    return httpx.Client(transport=transport, verify=_trusted(), headers=_manners(), **options)


@cache
def _trusted() -> ssl.SSLContext:
    """Read once: to load the certificates takes longer than most requests."""
    return httpx.create_ssl_context()


def _manners() -> dict[str, str]:
    contact = f" ( {settings.CONTACT} )" if settings.CONTACT else ""
    return {"User-Agent": f"jobbko/{jobbko.__version__}{contact}"}


def _judge(service: str, said: str, response: httpx.Response, withheld: bool) -> None:
    match response.status_code:
        case code if code < 400:
            return
        case 401 | 403 if not withheld:
            raise GateClosed(service, "auth", message=said)
        case 401 | 403 | 404 | 410:
            raise Missing(said)
        case 408 | 425 | 429 | 502 | 503 | 529:
            raise Throttled(service, retry_after=retry_after(response), message=said)
        case code if code >= 500:
            raise Charged("internal", said, service=service)
    raise Charged("content", said)


def retry_after(response: httpx.Response) -> float | None:
    """Seconds from now that the Retry-After header asks for (RFC 9110 10.2.3: a number or a date), if it does."""
    raw = response.headers.get("Retry-After", "").strip()
    if raw.isdigit():
        return float(raw)
    try:
        return max(0.0, (parsedate_to_datetime(raw) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def _bounded(response: httpx.Response, limit: int, url: str, until: float) -> bytes:
    parts, size = [], 0
    for part in response.iter_bytes():
        size += len(part)
        if size > limit:
            raise Charged("content", f"{url} sent more than {limit} bytes")
        if time.monotonic() > until:
            raise httpx.ReadTimeout(f"{size} bytes came, and the answer had no end in time")
        parts.append(part)
    return b"".join(parts)
