"""Keeps one embedded Postgres running for as long as any process uses it, then stops it.

Run as a program of its own (`python -I -S keeper.py …`) with nothing but the standard library, since it stays in
memory beside the server. Whoever uses the server holds a shared lock on `users.lock`; the kernel drops it however that
process ends, so an exclusive lock on it means that the last one is gone. The server's processes inherit a lock on
`server.lock`, which therefore is free when, and only when, none of them is left.
"""

from __future__ import annotations

import argparse
import fcntl
import logging
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

#: A server that was killed is started again, but one that is killed this often within a minute is left alone.
MOST_RESTARTS = 5
#: Seconds for an orderly stop with its checkpoint; after that, Postgres recovers at the next start.
PATIENCE = 120
LOGS_KEPT = 5

log = logging.getLogger("keeper")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--linger", type=float, required=True, help="seconds to wait for another user")
    parser.add_argument("--delete", action="store_true", help="delete the folder at the end")
    parser.add_argument("--account", nargs=2, type=int, metavar=("UID", "GID"), help="whom to become, if root")
    parser.add_argument("--lock", type=int, required=True, help="descriptor of keeper.lock, locked")
    parser.add_argument("--socket", type=Path, required=True, help="the socket's folder")
    parser.add_argument("folder", type=Path)
    parser.add_argument("command", nargs="+", help="the server's command line")
    options = parser.parse_args()

    if os.fork():
        os._exit(0)  # whoever asked goes on at once, and is not our parent when we end
    logging.basicConfig(format="%(asctime)s keeper: %(message)s", level=logging.INFO)
    if options.account:
        uid, gid = options.account
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    keeper = Keeper(options.folder, options.lock, options.socket, options.command)
    users = keeper.keep(options.linger)
    keeper.stop()
    if keeper.owns_folder():
        keeper.tidy(options.delete)
    # In this order: who comes next waits for users.lock, and must then see that nobody keeps the server.
    os.close(options.lock)
    os.close(users)


@dataclass
class Keeper:
    folder: Path
    lock: int
    socket: Path
    command: list[str]
    events: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)
    server: subprocess.Popen[bytes] | None = None
    restarts: list[float] = field(default_factory=list)

    def keep(self, linger: float) -> int:
        """Returns when nobody uses the server any more, with the lock on users.lock that keeps new users waiting."""
        users = opened(self.folder / "users.lock")
        self.start()
        self.watch(users, "users gone")
        while True:
            self.prune_logs()
            try:
                event = self.events.get(timeout=600)
            except queue.Empty:
                continue
            if event == "server gone":
                self.restart()
                continue
            time.sleep(linger)
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # someone came while we lingered
                self.watch(users, "users gone")
            else:
                return users

    def start(self) -> None:
        """Start the server; if it runs already (its keeper was killed), only watch it."""
        lock = opened(self.folder / "server.lock")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("the server runs already: watching it")
        else:
            # No process of this server is left, so its lock files are stale, even if the pid in them is alive: it may
            # be somebody else's by now, or a zombie that nobody collects.
            if postmaster(self.folder) is None:
                for stale in [self.folder / "data" / "postmaster.pid", *self.socket.glob(".s.PGSQL.*")]:
                    stale.unlink(missing_ok=True)
            self.server = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, pass_fds=[lock])
        finally:
            os.close(lock)
        self.watch(opened(self.folder / "server.lock"), "server gone")

    def restart(self) -> None:
        """Again, if it was killed. If it ended by itself, it has said why: whoever needs it next tries, or is told."""
        status = self.server.wait() if self.server else -signal.SIGKILL
        now = time.monotonic()
        self.restarts = [moment for moment in self.restarts if moment > now - 60] + [now]
        if status >= 0 or len(self.restarts) > MOST_RESTARTS or not self.owns_folder():
            log.error("the server ended with status %s: giving up", status)
            sys.exit(1)
        log.warning("the server was killed (%s): starting it again", status)
        self.start()

    def stop(self) -> None:
        waited = 0
        while True:
            self.signal(signal.SIGINT if waited < PATIENCE else signal.SIGQUIT)
            try:
                while self.events.get(timeout=10) != "server gone":
                    pass
            except queue.Empty:
                waited += 10
            else:
                return

    def signal(self, number: int) -> None:
        owner = self.owns_folder()
        if self.server:
            self.server.send_signal(number if owner else signal.SIGQUIT)  # its data was deleted: nothing to finish
        elif owner and (pid := postmaster(self.folder)) is not None:
            os.kill(pid, number)

    def watch(self, lock: int, event: str) -> None:
        """Have that event when nobody else holds that lock any more."""

        def wait() -> None:
            fcntl.flock(lock, fcntl.LOCK_EX)
            fcntl.flock(lock, fcntl.LOCK_UN)
            self.events.put(event)

        threading.Thread(target=wait, daemon=True).start()

    def owns_folder(self) -> bool:
        """Whether the folder is still the one that we were started for: it may have been deleted, and made anew."""
        try:
            return os.path.samestat(os.stat(self.folder / "keeper.lock"), os.fstat(self.lock))
        except FileNotFoundError:
            return False

    def prune_logs(self) -> None:
        for old in sorted((self.folder / "data" / "log").glob("*.log"))[:-LOGS_KEPT]:
            old.unlink(missing_ok=True)

    def tidy(self, delete: bool) -> None:
        shutil.rmtree(self.socket, ignore_errors=True)
        if delete:
            shutil.rmtree(self.folder)


def opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)


def postmaster(folder: Path) -> int | None:
    """The pid in postmaster.pid, if that process lives in this data directory."""
    data = folder / "data"
    try:
        pid = int((data / "postmaster.pid").read_text().partition("\n")[0])
        if os.path.samestat(os.stat(f"/proc/{pid}/cwd"), os.stat(data)):
            return pid
    except (OSError, ValueError):
        return None  # no such file, no such process, or somebody else's
    return None


if __name__ == "__main__":
    main()
