"""Workers and schedulers as processes: how they are started, and how long they are kept."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click

import jobbko
from jobbko import settings
from jobbko.store import jobs

#: Seconds that a worker gets to finish what it runs when its command ends.
GRACE = 30


#: Where our packages are, so that a folder `actors` in the current directory does not get in the way.
_INSTALLED = str(Path(jobbko.__file__).parents[1])


def worker_command(threads: int, processes: int = 1) -> list[str]:
    """`dramatiq actors`, with this interpreter, wherever it is called from."""
    return [
        *(sys.executable, "-m", "dramatiq", "actors"),
        *("--path", _INSTALLED, "--processes", str(processes), "--threads", str(threads)),
        *("--worker-shutdown-timeout", "600000"),
    ]


def scheduler_command() -> list[str]:
    start = "from periodiq import entrypoint; entrypoint()"  # it has a console script, but no `python -m`
    return [sys.executable, "-c", start, "--path", _INSTALLED, "--", "actors"]


def worker_environment(poll_interval: float | None = None, types: str | None = None) -> dict[str, str]:
    said = {"JOBBKO_POLL_INTERVAL": poll_interval and f"{poll_interval:g}", "JOBBKO_TYPES": types}
    return {**os.environ, **{name: value for name, value in said.items() if value}}


@contextlib.contextmanager
def some_worker(log: Path) -> Iterator[None]:
    """A worker of our own for the length of the block, if there is none already; what it says goes into the log."""
    if jobs.live_workers(settings.LEASE):
        yield
        return
    with log.open("ab") as output, running(worker_command(threads=os.cpu_count() or 2), output):
        yield


@contextlib.contextmanager
def running(command: list[str], output: object) -> Iterator[subprocess.Popen[bytes]]:
    """The command as a child that ends with the block, in peace if it can."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)  # type: ignore[call-overload]
    try:
        yield child
    finally:
        child.terminate()
        try:
            child.wait(GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            child.wait()


_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "": 1}


class Duration(click.ParamType):  # type: ignore[type-arg]
    """500ms, 1s, 2m; a bare number is seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float | int):
            return float(value)
        found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|)", str(value).strip())
        if found is None or float(found[1]) == 0:
            self.fail(f"{value!r} is not a duration; write 500ms, 1s or 2m.", param, ctx)
        return float(found[1]) * _UNITS[found[2]]
