import os
import subprocess
import sys
from pathlib import Path

import psycopg2
import pytest

from jobbko.testing import postgres
from tests.store.processes import kill
from tests.waiting import until

pytestmark = pytest.mark.slow  # real servers, started and killed

RUN = """
import sys
from jobbko.testing.postgres import temporary_server
with temporary_server() as url:
    print(url, flush=True)
    sys.stdin.read()
"""


def folder_of(url):
    return Path(url.partition("host=")[2].partition("&")[0].replace("%2F", "/")).parent


def test_is_quick_private_and_gone_afterwards():
    with postgres.temporary_server(max_connections=17) as url:
        conn = psycopg2.connect(url)
        with conn.cursor() as cursor:
            cursor.execute("select current_database(), current_setting('fsync'), current_setting('max_connections')")
            assert cursor.fetchone() == ("postgres", "off", "17")
        conn.close()
        folder = folder_of(url)
        assert folder.stat().st_mode & 0o777 == 0o700

    assert not folder.exists()


def test_is_gone_when_the_run_is_killed():
    with subprocess.Popen([sys.executable, "-c", RUN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        folder = folder_of(run.stdout.readline())
        assert folder.exists()

        kill(run.pid)

    until(lambda: not folder.exists())


def test_what_was_left_over_is_removed_by_the_next_run(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    old, new = tmp_path / f"{postgres.PREFIX}old", tmp_path / f"{postgres.PREFIX}new"
    old.mkdir()
    new.mkdir()
    os.utime(old, (0, 0))

    postgres._remove_left_over()

    assert not old.exists()
    assert new.exists()
