"""What the tests of the embedded Postgres look at, ask and kill: users of it, its keeper, its server."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg2

from jobbko.store import keeper
from tests.waiting import until

USER = """
import sys
from jobbko.store import embedded
print(embedded.url(), flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class User:
    """A process that uses the embedded Postgres until it is told to leave."""

    process: subprocess.Popen[str]
    url: str

    def leave(self) -> None:
        self.process.communicate()

    def kill(self) -> None:
        kill(self.process.pid)
        self.process.communicate()


@contextlib.contextmanager
def arriving(place: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    settings = {"JOBBKO_DATA_DIR": str(place), "JOBBKO_EMBEDDED_LINGER": "0", "DATABASE_URL": ""}
    with subprocess.Popen(
        [sys.executable, "-c", USER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | settings | environment,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def user(place: Path, **environment: str) -> Iterator[User]:
    with arriving(place, **environment) as process:
        yield arrived(process)


def arrived(process: subprocess.Popen[str]) -> User:
    assert process.stdout
    return User(process, process.stdout.readline().strip())


def server(place: Path) -> int | None:
    return keeper.postmaster(place / "postgres")


def keeper_of(place: Path) -> int | None:
    """Its pid: the process that names this folder and is not the server."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if os.fsencode(keeper.__file__) in words and os.fsencode(place / "postgres") in words:
                return int(entry.name)
    return None


def stopped(place: Path) -> bool:
    """Whether neither a server nor a keeper is left."""
    return free(place, "server.lock") and free(place, "keeper.lock")


def free(place: Path, name: str) -> bool:
    try:
        lock = os.open(place / "postgres" / name, os.O_RDONLY)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


def kill(pid: int | None) -> None:
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: not alive(pid))


def alive(pid: int) -> bool:
    """Whether it runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def new_place() -> Path:
    place = Path(tempfile.mkdtemp(prefix="jobbko-place-"))
    place.chmod(0o755)
    return place


def answer(url: str, query: str) -> Any:
    conn = psycopg2.connect(url)
    conn.autocommit = True
    try:
        with conn.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetchone()[0] if cursor.description else None
    finally:
        conn.close()


def answers(url: str) -> bool:
    try:
        return bool(answer(url, "select true"))
    except psycopg2.OperationalError:
        return False
