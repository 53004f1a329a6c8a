"""What the demo says in the end works as it is typed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jobbko import settings
from jobbko.cli import _processes, demo

ADDRESS = "postgresql://postgres@/jobbko?host=%2Fa%2Fvery%2Flong%2Fname" + "%2Ffolder" * 20 + "&port=5432"


@pytest.fixture
def said(monkeypatch, capsys):
    monkeypatch.setattr(settings, "DATABASE_URL", "")
    monkeypatch.setattr("jobbko.store.pool.database_url", lambda: ADDRESS)
    monkeypatch.setattr("shutil.which", lambda name: {"psql": "/usr/bin/psql"}.get(name))
    monkeypatch.setattr("sys.argv", [".venv/bin/jobbko", "demo"])

    def where(once=False):
        demo._where_to_look("3f2b8c1e-9d41", Path("/data/demo.log"), once)
        return capsys.readouterr().out

    return where


def test_the_line_for_psql_is_whole_and_the_command_is_the_one_that_was_typed(said):
    lines = said().splitlines()
    assert f"  psql '{ADDRESS}' -c 'table job_queue'" in lines
    assert any(line.startswith("  .venv/bin/jobbko show 3f2b8c1e ") for line in lines)


def test_no_address_is_given_of_a_database_that_stops(said):
    told = said(once=True)
    assert ADDRESS not in told
    assert "`.venv/bin/jobbko up` keeps it running" in told


def test_ones_own_database_is_not_spelled_out(said, monkeypatch):
    monkeypatch.setattr(settings, "DATABASE_URL", "postgresql://me:secret@db/x")
    told = said(once=True)
    assert "psql \"$DATABASE_URL\" -c 'table job_queue'" in told
    assert "secret" not in told


@pytest.mark.parametrize(
    ("called", "found", "name"),
    [
        (".venv/bin/jobbko", None, ".venv/bin/jobbko"),
        ("/opt/venv/bin/jobbko", "/opt/venv/bin/jobbko", "jobbko"),
        ("/opt/venv/bin/jobbko", "/usr/bin/jobbko", "/opt/venv/bin/jobbko"),
        ("-c", None, "jobbko"),
    ],
)
def test_the_command_is_named_as_it_can_be_typed(monkeypatch, called, found, name):
    monkeypatch.setattr("sys.argv", [called])
    monkeypatch.setattr("shutil.which", lambda _: found and os.path.abspath(found))
    assert _processes.ourselves() == name
