"""The command as a person types it, and some jobs to look at."""

from __future__ import annotations

import uuid

import pytest
from click.testing import CliRunner

import actors  # noqa: F401  every job declares itself
from broker import broker
from jobbko import cli, store
from jobbko.store import queue


@pytest.fixture
def run(database):
    def invoke(*arguments, code=0):
        result = CliRunner().invoke(cli.cli, arguments)
        assert result.exit_code == code, (result.output, result.exception)
        return result.output

    return invoke


@pytest.fixture
def complaint(database, monkeypatch, capsys):
    """What the whole command says on the error output when it fails, without a traceback."""

    def invoke(*arguments, code=1):
        monkeypatch.setattr("sys.argv", ["jobbko", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr().err
        assert ended.value.code == code
        assert "Traceback" not in said
        return said

    return invoke


@pytest.fixture
def job(database):
    """One dead job and two that wait."""
    broker.job_types.publish()
    ids = [str(uuid.uuid4()) for _ in range(3)]
    queue.add(
        [
            {"id": id, "job_type": "audio_analysis", "payload": {"track_id": f"track-{n}"}, "priority": 7,
             "max_attempts": 5, "queue_name": "default"}
            for n, id in enumerate(ids)
        ]
    )  # fmt: skip
    die(ids[0], "no such file")
    return ids


def die(id: str, error: str) -> None:
    token = str(uuid.uuid4())
    store.run(
        "update job_queue set state = 'consumed', lease_token = %(token)s, started_at = now() where id = %(id)s",
        token=token,
        id=id,
    )
    dead = {"id": id, "token": token, "state": "rejected", "charge": 1, "error": error, "outcome": "dead"}
    queue.turn([], [{**dead, "class": "content"}], [], [], 0, token, 30, None, False)
