"""Stand-ins for what is outside the process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx


class Internet(httpx.BaseTransport):
    """Answers what it was told to answer; any other request fails the test."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], Callable[[], httpx.Response]] = {}
        self.requests: list[httpx.Request] = []

    def on(self, method: str, url: str, status: int = 200, **response: Any) -> None:
        self.answers[method, url] = lambda: httpx.Response(status, **response)

    def breaks(self, method: str, url: str, error: Exception) -> None:
        """The request gets no answer: a timeout, a refused connection."""

        def fail() -> httpx.Response:
            raise error

        self.answers[method, url] = fail

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.get((request.method, str(request.url)))
        assert answer is not None, f"nobody said what {request.method} {request.url} answers"
        return answer()
