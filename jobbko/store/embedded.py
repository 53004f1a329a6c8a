"""The Postgres for those who have none: without DATABASE_URL, it runs in the data folder for as long as anyone uses it.

It is durable, has the database `jobbko`, no TCP port, and trusts whoever can enter its private folder.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import psycopg2

from jobbko import settings
from jobbko.errors import UserError
from jobbko.store import cluster

DATABASE = "jobbko"
#: A forked child counts as a user of its own, so that it may outlive its parent.
_joined: dict[tuple[int, Path], int] = {}


def url() -> str:
    """The database's URL; when it returns, the server runs, and will for as long as this process lives."""
    folder = Path(os.path.abspath(settings.data_dir())) / "postgres"
    with cluster.explaining(folder):
        server = cluster.Cluster(folder, cluster.prepared(folder), linger=settings.EMBEDDED_LINGER)
        _join(folder)
        return _running(server)


def is_running() -> bool:
    """Whether somebody has started it already. Nothing is made or started to find that out."""
    try:
        lock = os.open(settings.data_dir() / "postgres" / "keeper.lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _join(folder: Path) -> None:
    key = os.getpid(), folder
    if (old := _joined.get(key)) is not None:
        try:
            if os.path.samestat(os.fstat(old), os.stat(folder / "users.lock")):
                return
        except FileNotFoundError:
            pass  # the folder was deleted under us, as in the case below
        os.close(old)
    _joined[key] = cluster.join(folder)


def _running(server: cluster.Cluster) -> str:
    for last in (False, False, True):
        cluster.run_server(server, {})
        address = cluster.url(server, DATABASE)
        try:
            psycopg2.connect(address).close()
            break
        except psycopg2.OperationalError:
            # The database is missing, since its maker was killed right before, or the server has been killed just now.
            if not _created(server) and last:
                raise
    return address


def _created(server: cluster.Cluster) -> bool:
    done = server.postgres.run("createdb", "-h", cluster.socket(server), "-p", "5432", "-U", "postgres", DATABASE)
    if "No space left on device" in done.stderr:
        raise UserError(f"{server.folder}: the disk is full. Free some space.")
    return done.returncode == 0
