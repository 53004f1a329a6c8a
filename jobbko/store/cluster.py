"""One Postgres server in a folder of its own, made and started by the first who needs it and stopped after the last.

data/         the cluster; it appears complete, by a rename
socket-…/     its socket; no TCP port is opened
users.lock    shared by every process that uses the server; the kernel drops it however that process ends
start.lock    exclusive while someone makes or starts the server
keeper.lock   held by the keeper, which runs the server and stops it when nobody holds users.lock
server.lock   held by the server's processes: free when none of them is left
keeper.log    what the keeper and the server say before the server's own log in data/log begins
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from jobbko.errors import UserError
from jobbko.store import keeper
from jobbko.store.installation import (
    PACKAGE,
    Installation,
    check_passable,
    environment,
    installation,
    make_folders,
)

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "logging_collector": "on",
    "log_filename": "%Y-%m-%d_%H%M%S.log",
    "log_rotation_size": "10MB",  # the keeper deletes all but the newest few
    "log_checkpoints": "off",
}
#: Seconds that a start may take; recovery after a crash is part of it.
PATIENCE = 300
#: Starts before we say that it cannot be started: a keeper may also have been killed.
TRIES = 3
#: The longest name of a socket that the kernel takes, in bytes.
LONGEST_SOCKET = 107
OURS = {"data", "data.new", "users.lock", "start.lock", "keeper.lock", "server.lock", "keeper.log", "lost+found"}


@dataclass(frozen=True)
class Cluster:
    folder: Path
    postgres: Installation
    #: Seconds that the server waits for another user after its last.
    linger: float = 0
    #: Lives no longer than its users.
    temporary: bool = False

    @property
    def data(self) -> Path:
        return self.folder / "data"


def prepared(folder: Path) -> Installation:
    """Make the folder if it is missing; refuse one that is not ours. Returns the programs to use there."""
    postgres = installation(folder)
    make_folders(folder.parent)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.stat()
    if os.geteuid() not in (0, status.st_uid):
        raise UserError(
            f"{folder} belongs to another user (uid {status.st_uid}). "
            f"Run as that user, or set JOBBKO_DATA_DIR to a folder of your own."
        )
    foreign = {entry.name for entry in folder.iterdir() if not entry.name.startswith("socket-")} - OURS
    if foreign:
        raise UserError(
            f"{folder} holds files that are not Jobbkø's ({min(foreign)}). "
            f"Move them away, or set JOBBKO_DATA_DIR to another folder."
        )
    if (account := postgres.account) and status.st_uid != account.uid:
        os.chown(folder, account.uid, account.gid)  # new, or an empty one that root has made
    if status.st_mode & 0o077:
        folder.chmod(0o700)  # whoever reaches the socket is let in
    return postgres


def join(folder: Path) -> int:
    """A descriptor: as long as it (or its copy in a forked child) is open, the server counts us as a user."""
    users = keeper.opened(folder / "users.lock")
    fcntl.flock(users, fcntl.LOCK_SH)  # waits while the keeper stops the server
    return users


def run_server(cluster: Cluster, settings: Mapping[str, str], sync: bool = True) -> None:
    """Return when the server takes connections; the caller has joined. The settings are for a new cluster."""
    with _locked(cluster.folder / "start.lock") as start:
        deadline = time.monotonic() + PATIENCE
        tries = 0
        while True:
            if (lock := _acquired(cluster.folder / "keeper.lock", wait=not _made(cluster))) is not None:
                try:
                    if tries == TRIES:
                        raise UserError(_explained(cluster, "could not be started", _log(cluster)))
                    if not _made(cluster):
                        _make(cluster, start, settings, sync)
                    _check_version(cluster)
                    _start_keeper(cluster, lock)
                finally:
                    os.close(lock)  # the keeper has inherited it
                tries += 1
            where = ("-h", socket(cluster), "-p", "5432", "-U", "postgres")
            if cluster.postgres.run("pg_isready", "-q", *where).returncode == 0:
                return
            if time.monotonic() > deadline:
                raise UserError(_explained(cluster, f"takes no connections after {PATIENCE} s", _log(cluster)))
            time.sleep(0.02)


def url(cluster: Cluster, database: str) -> str:
    # The port is written down, or libpq would take somebody's PGPORT.
    return f"postgresql://postgres@/{database}?host={quote(str(socket(cluster)), safe='')}&port=5432"


def socket(cluster: Cluster) -> Path:
    """The socket's folder. Its name is this cluster's alone: a server whose files were deleted removes its socket when
    it notices, and that must not be the socket of a new server at the same place.
    """
    with (cluster.data / "global" / "pg_control").open("rb") as control:
        identity = control.read(8).hex()
    inside = cluster.folder / f"socket-{identity}"
    if len(os.fsencode(inside / ".s.PGSQL.5432")) <= LONGEST_SOCKET:
        return inside
    # Not XDG_RUNTIME_DIR: not every process has it, and it goes away when its user logs out.
    place = hashlib.sha256(os.fsencode(inside)).hexdigest()[:16]
    return Path(f"/tmp/jobbko-{cluster.folder.stat().st_uid}-{place}")


@contextlib.contextmanager
def explaining(path: Path) -> Iterator[None]:
    """What the file system refuses is for a person to mend."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise UserError(
                f"{path}: the disk is full. Free some space, or set JOBBKO_DATA_DIR to another disk."
            ) from error
        if error.errno == errno.EFBIG:
            raise UserError(
                f"{path}: this process may not write files of that size. Raise the limit (ulimit -f), "
                f"or set DATABASE_URL."
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENOENT):
            raise UserError(
                f"{error.filename or path}: {error.strerror}. "
                f"Set JOBBKO_DATA_DIR to a folder that you may write, or set DATABASE_URL."
            ) from error
        raise


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    lock = _acquired(path, wait=True)
    assert lock is not None
    try:
        yield lock
    finally:
        fcntl.flock(lock, fcntl.LOCK_UN)  # a child that was forked meanwhile has a copy, which would go on holding it
        os.close(lock)


def _acquired(path: Path, wait: bool) -> int | None:
    lock = keeper.opened(path)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def _made(cluster: Cluster) -> bool:
    return (cluster.data / "PG_VERSION").exists()


def _make(cluster: Cluster, start: int, settings: Mapping[str, str], sync: bool) -> None:
    if cluster.data.exists() and any(cluster.data.iterdir()):
        raise UserError(
            f"{cluster.data} is not a Postgres data directory: it has files but no PG_VERSION. "
            f"Move it away, or set JOBBKO_DATA_DIR to another folder."
        )
    if cluster.postgres.account:
        check_passable(cluster.folder, cluster.postgres.account)
    # A server whose data was deleted under it notices within a minute; until then it may still write.
    with _locked(cluster.folder / "server.lock"):
        new = cluster.folder / "data.new"
        if new.exists():
            shutil.rmtree(new)
        options = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8"]
        options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        options += [f"--set={name}={value}" for name, value in (SETTINGS | dict(settings)).items()]
        options += [] if sync else ["--no-sync"]
        # It inherits start.lock: if we are killed, the next one waits until our initdb has ended, and begins anew.
        done = cluster.postgres.run("initdb", "-D", new, *options, pass_fds=[start])
        if done.returncode != 0:
            raise UserError(_explained(cluster, "could not be made", done.stdout + done.stderr))
        new.rename(cluster.data)
        folder = os.open(cluster.folder, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(folder)
        os.close(folder)


def _check_version(cluster: Cluster) -> None:
    theirs, ours = (cluster.data / "PG_VERSION").read_text().strip(), cluster.postgres.major()
    if theirs != ours:
        raise UserError(
            f"{cluster.data} was written by Postgres {theirs}; this is Postgres {ours}. Go back to the version that "
            f"wrote it (pip install '{PACKAGE}=={theirs}.*'), dump it with pg_dumpall, move the folder away, and "
            f"restore the dump with this version."
        )


def _start_keeper(cluster: Cluster, lock: int) -> None:
    place, account = _socket_folder(cluster), cluster.postgres.account
    command = [sys.executable, "-I", "-S", keeper.__file__, "--lock", str(lock), "--linger", str(cluster.linger)]
    command += ["--socket", str(place)]
    command += ["--account", str(account.uid), str(account.gid)] if account else []
    command += ["--delete"] if cluster.temporary else []
    command += [str(cluster.folder), "--", str(cluster.postgres.programs / "postgres")]
    command += ["-D", str(cluster.data), "-k", str(place), "-p", "5432"]
    log_path = cluster.folder / "keeper.log"
    log_path.unlink(missing_ok=True)  # it may be root's, while we are the account that owns the folder
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        subprocess.run(
            command,
            check=False,  # if it fails, keeper.lock is free again, which our caller sees
            pass_fds=[lock],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment(),
            cwd="/",
            start_new_session=True,
        )
    finally:
        os.close(log)


def _socket_folder(cluster: Cluster) -> Path:
    place = socket(cluster)
    with contextlib.suppress(FileExistsError):
        place.mkdir(mode=0o700)
        if account := cluster.postgres.account:
            os.chown(place, account.uid, account.gid)
    status, owner = place.lstat(), cluster.folder.stat().st_uid
    if status.st_mode != 0o40700 or status.st_uid != owner:  # a folder, not a link to one, and private
        raise UserError(f"{place} must be a folder of uid {owner} alone (0700), for the server's socket. Remove it.")
    return place


def _explained(cluster: Cluster, what: str, output: str) -> str:
    if "No space left on device" in output:
        return f"{cluster.folder}: the disk is full. Free some space, or set JOBBKO_DATA_DIR to another disk."
    last = "\n".join(output.strip().splitlines()[-6:])
    return f"The embedded Postgres in {cluster.folder} {what}. It says:\n{last}\nMend that, or set DATABASE_URL."


def _log(cluster: Cluster) -> str:
    newest = sorted((cluster.data / "log").glob("*.log"))[-1:]
    return "".join(path.read_text(errors="replace") for path in [*newest, cluster.folder / "keeper.log"])
