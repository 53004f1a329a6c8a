"""Workers and schedulers as processes: how they are started, and how long they are kept."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
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
        *("--worker-shutdown-timeout", "600000", "--worker-fork-timeout", "5000"),
    ]


def ourselves() -> str:
    """How the running command was called, so that what we tell somebody to type works where she is."""
    called = sys.argv[0]
    if Path(called).name != "jobbko" or shutil.which("jobbko") == os.path.abspath(called):
        return "jobbko"
    return called


def scheduler_command() -> list[str]:
    start = "from periodiq import entrypoint; entrypoint()"  # it has a console script, but no `python -m`
    return [sys.executable, "-c", start, "--path", _INSTALLED, "--", "actors"]


def worker_environment(poll_interval: float | None = None, types: str | None = None) -> dict[str, str]:
    said = {"JOBBKO_POLL_INTERVAL": poll_interval and f"{poll_interval:g}", "JOBBKO_TYPES": types}
    return {**os.environ, **{name: value for name, value in said.items() if value}}


class SomeWorker:
    """See to it that there is a worker for the length of the block: one that is there, or else one of our own.

    What ours says goes into the log. `look` is called while somebody waits: a worker may die meanwhile.
    """

    def __init__(self, log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log
        self._own: subprocess.Popen[bytes] | None = None
        self._stack = contextlib.ExitStack()
        self._look_at = 0.0

    def __enter__(self) -> SomeWorker:
        self.look()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def look(self) -> None:
        if time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + 2
        if self._own is not None and self._own.poll() is None:
            return
        if self._own is None and jobs.live_workers(settings.LEASE):
            return
        output = self._stack.enter_context(self._log.open("ab"))
        self._own = self._stack.enter_context(running(worker_command(threads=os.cpu_count() or 2), output))


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


_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "": 1}


class Duration(click.ParamType):  # type: ignore[type-arg]
    """500ms, 1s, 2m, 1h, 7d, 2w; a bare number is seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float | int):
            return float(value)
        found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w|)", str(value).strip())
        if found is None or float(found[1]) == 0:
            self.fail(
                f"{value!r} is not a duration; write 500ms, 1s or 2m; h, d and w are hours, days and weeks.", param, ctx
            )
        return float(found[1]) * _UNITS[found[2]]


class Age(Duration):
    """As a duration, but with its unit: what is meant by "older than 7" may be gone before anybody asks."""

    name = "age"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if str(value).strip()[-1:].isdigit():
            self.fail(f"{value!r} has no unit; write 7d, 12h or 2w.", param, ctx)
        return super().convert(value, param, ctx)
