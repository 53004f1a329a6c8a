"""The speech server as a process: how it is started, and what tells jobs of it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from jobbko.localai.front import HOST
from jobbko.localai.process import free_port, serving
from jobbko.whisper import models


@dataclass(frozen=True, slots=True)
class Running:
    """environment: what a worker's environment needs, so that its jobs ask this server."""

    process: subprocess.Popen[bytes]
    url: str
    environment: dict[str, str]


def program(port: int, parent: int, *, host: str = HOST, threads: int = 0, model: str = "") -> list[str]:
    """parent: the process that it ends with; 0 for none. threads: 0 for what the machine has."""
    return [sys.executable, "-P", "-m", "jobbko.whisper", host, str(port), str(parent), str(threads), model]


def environment(port: int, name: str) -> dict[str, str]:
    """In the variables of jobbko.settings; name: the model that is served."""
    return {"JOBBKO_WHISPER_URL": url(port), "JOBBKO_WHISPER_MODEL": name}


def url(port: int) -> str:
    return f"http://{HOST}:{port}/v1"


@contextlib.contextmanager
def running(port: int = 0, output: int | IO[bytes] | None = None, *, model: str = "") -> Iterator[Running]:
    """A server that answers, for the length of the block; it also ends with the thread that began the block.

    UserError if the model cannot be had or loaded; what the server said about that is in the output.
    """
    found, port = models.find(model), port or free_port()
    with serving(program(port, os.getpid(), model=model), port, "speech server", output) as process:
        yield Running(process, url(port), environment(port, found.name))
