"""A gateway to models that says what it is told to, over real HTTP, and keeps its own account of what it sold.

    with scripted_gateway() as gateway:
        gateway.script = lambda asked: completion('{"title": "x"}', prompt=100, output=20, cost=0.01)

It speaks OpenAI's protocol and Anthropic's; which one is in the path of the request.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    path: str
    headers: Mapping[str, str]  # named as the client wrote them
    body: Any


@dataclass(frozen=True, slots=True)
class Said:
    """status None: the connection breaks in the middle of the answer."""

    body: Any
    status: int | None = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class ScriptedGateway:
    url: str
    script: Callable[[Asked], Said] = lambda asked: completion("ok")
    asked: list[Asked] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


def completion(
    text: str | None, *, prompt: int = 10, cached: int = 0, output: int = 5, finish: str = "stop", **usage: Any
) -> Said:
    """As https://platform.openai.com/docs/api-reference/chat has it; usage: what else is in there."""
    counted = {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output, **usage}
    if cached:
        counted["prompt_tokens_details"] = {"cached_tokens": cached}
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return Said({"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": counted})


def message(text: str, *, input: int = 10, output: int = 5, stop: str = "end_turn", **usage: int) -> Said:
    """As https://docs.anthropic.com/en/api/messages has it."""
    counted = {"input_tokens": input, "output_tokens": output, **usage}
    content = [{"type": "text", "text": text}]
    return Said({"type": "message", "model": "m", "content": content, "stop_reason": stop, "usage": counted})


def vectors(*rows: list[float], prompt: int = 10) -> Said:
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    usage = {"prompt_tokens": prompt, "total_tokens": prompt}
    return Said({"object": "list", "model": "m", "data": data, "usage": usage})


def error(status: int, message: str, *, code: str | None = None, type: str | None = None, **headers: str) -> Said:
    said = {"message": message, "code": code, "type": type}
    return Said({"error": said}, status, {name.replace("_", "-"): value for name, value in headers.items()})


@contextlib.contextmanager
def scripted_gateway(port: int = 0) -> Iterator[ScriptedGateway]:
    """On loopback; its `url` ends in /v1."""
    server = _Server(("127.0.0.1", port), _Handler)
    gateway = ScriptedGateway(f"http://127.0.0.1:{server.server_port}/v1")
    server.gateway = gateway  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield gateway
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # whoever asked was killed


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        gateway: ScriptedGateway = self.server.gateway  # type: ignore[attr-defined]
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = Asked(self.path, dict(self.headers.items()), json.loads(content))
        with gateway.lock:
            gateway.asked.append(asked)
        said = gateway.script(asked)
        with gateway.lock:
            gateway.said.append(said)
        body = said.body.encode() if isinstance(said.body, str) else json.dumps(said.body).encode()
        self.send_response(said.status or 200)
        for name, value in said.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if said.status is not None else body[: len(body) // 2])
        self.close_connection = said.status is None

    def log_message(self, format: str, *args: Any) -> None:
        pass
