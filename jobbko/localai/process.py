"""The local server as a process: how it is started, when it is ready, and what tells jobs of it."""

from __future__ import annotations

import contextlib
import ctypes
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from jobbko.errors import UserError
from jobbko.localai import models
from jobbko.localai.front import HOST
from jobbko.localai.models import Model

#: Seconds that a model may take to load from a slow disk.
PATIENCE = 600
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Running:
    """environment: what a worker's environment needs, so that its jobs ask this server."""

    process: subprocess.Popen[bytes]
    url: str
    environment: dict[str, str]


def program(port: int, parent: int) -> list[str]:
    """parent: the process that it ends with; 0 for none."""
    return [sys.executable, "-P", "-m", "jobbko.localai", str(port), str(parent)]


def environment(port: int, model: Model) -> dict[str, str]:
    """The one gateway, in the variables of jobbko.settings."""
    return {
        "JOBBKO_AI_BACKEND": "gateway",
        "JOBBKO_AI_URL": url(port),
        "JOBBKO_AI_MODEL": model.name,
        "JOBBKO_AI_EMBEDDING_MODEL": models.EMBEDDING_NAME,
        "JOBBKO_AI_FREE": "1",
        "JOBBKO_AI_KEY": "",  # a key for somebody else is not sent here
    }


def url(port: int) -> str:
    return f"http://{HOST}:{port}/v1"


def free_port() -> int:
    """One that nobody uses now."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port: int = listener.getsockname()[1]
        return port


@contextlib.contextmanager
def running(port: int = 0, output: int | IO[bytes] | None = None) -> Iterator[Running]:
    """A server that answers, for the length of the block. It also ends with the thread that began the block.

    UserError if the model cannot be had or loaded; what the server said about that is in the output.
    """
    model, port = models.chat(), port or free_port()
    with serving(program(port, os.getpid()), port, "local model server", output) as process:
        yield Running(process, url(port), environment(port, model))


@contextlib.contextmanager
def serving(
    program: list[str], port: int, name: str, output: int | IO[bytes] | None
) -> Iterator[subprocess.Popen[bytes]]:
    """The program as a process, as soon as it answers on the port and until the end of the block."""
    process = subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
    try:
        _wait_until_ready(process, port, name)
        yield process
    finally:
        process.kill()  # there is nothing that it would have to finish
        process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, name: str) -> None:
    """It listens before it has loaded its models, so all but the first moment of the wait is one request."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if (code := process.poll()) is not None:
            raise UserError(f"The {name} ended with code {code} before it was ready.")
        connection = http.client.HTTPConnection(HOST, port, timeout=PATIENCE)
        with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        time.sleep(0.05)
    raise UserError(f"The {name} was not ready within {PATIENCE} s.")


def die_with(parent: int) -> None:
    """Ask the kernel to kill this process when the one that started it ends, however it ends: prctl(2)."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the line above
        os._exit(1)
