"""A Postgres server for one test run: ready in about a second, gone afterwards even if the run is killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from jobbko.store import cluster, keeper

#: Nothing here has to survive a power cut.
SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "200"}
PREFIX = "jobbko-test-"
#: Seconds after which a folder that nobody uses is left over, and not one that is about to be used.
LEFT_OVER = 60


@contextlib.contextmanager
def temporary_server(**settings: str | int) -> Iterator[str]:
    """The URL of its database `postgres`; the settings are Postgres's own (`wal_level="logical"`)."""
    _remove_left_over()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    server = cluster.Cluster(folder, cluster.prepared(folder), temporary=True)
    users = cluster.join(folder)
    try:
        chosen = SETTINGS | {name: str(value) for name, value in settings.items()}
        cluster.run_server(server, chosen, sync=chosen["fsync"] != "off")
        yield cluster.url(server, "postgres")
    finally:
        fcntl.flock(users, fcntl.LOCK_UN)  # explicitly: a forked child may still have a copy of the descriptor
        os.close(users)
        _wait_until_kept_by_none(folder)
        shutil.rmtree(folder, ignore_errors=True)  # the keeper has done it, unless it was killed


def _wait_until_kept_by_none(folder: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        lock = os.open(folder / "keeper.lock", os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.close(lock)


def _remove_left_over() -> None:
    """Of runs that were killed before there was a keeper, or whose keeper was killed as well."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(FileNotFoundError, PermissionError):
            if time.time() - folder.stat().st_mtime > LEFT_OVER and _unused(folder):
                shutil.rmtree(folder)


def _unused(folder: Path) -> bool:
    for name in ("users.lock", "keeper.lock", "server.lock"):
        lock = keeper.opened(folder / name)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(lock)
    return True
