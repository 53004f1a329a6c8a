"""`jobbko local-ai`, and `jobbko up` where no gateway is configured: with the real model."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from jobbko import settings, store
from jobbko.ai.gateways import Gateway
from jobbko.cli.up import _local_models
from jobbko.localai import models, process
from tests.ai.conftest import configure
from tests.cli.test_real_runs import children, command_of, jobbko
from tests.localai.conftest import asked, models_here  # noqa: F401  a fixture
from tests.waiting import until


def test_up_brings_no_models_where_a_gateway_is_configured(monkeypatch):
    configure(monkeypatch, Gateway("main", url="http://127.0.0.1:9/v1", model="m"))
    assert _local_models() == ([], {})


def test_up_brings_no_models_where_their_packages_are_not_installed(monkeypatch):
    configure(monkeypatch)
    monkeypatch.setattr(models, "PACKAGES", ("not_installed_here",))
    assert _local_models() == ([], {})


def test_up_goes_on_without_a_model_that_cannot_be_had(monkeypatch, tmp_path, capsys):
    configure(monkeypatch)
    monkeypatch.setattr(settings, "LOCAL_MODEL", tmp_path / "gone.gguf")
    assert _local_models() == ([], {})
    assert "No local model: JOBBKO_LOCAL_MODEL=" in capsys.readouterr().out


def test_a_file_that_is_not_there_is_told_in_one_sentence(complaint, monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "LOCAL_MODEL", tmp_path / "gone.gguf")
    assert complaint("local-ai").splitlines() == [
        f"JOBBKO_LOCAL_MODEL={tmp_path}/gone.gguf cannot be read: No such file or directory."
    ]


@pytest.mark.slow
def test_local_ai_serves_in_the_foreground_and_says_what_to_set(models_here):  # noqa: F811
    port = process.free_port()
    command = subprocess.Popen(jobbko("local-ai", "--port", str(port)), stdout=subprocess.PIPE, text=True)
    try:
        until(lambda: answers(process.url(port)))
        again = subprocess.run(jobbko("local-ai", "--port", str(port)), capture_output=True, text=True)
        command.terminate()
        command.wait()
    finally:
        command.kill()
        said, _ = command.communicate()
    assert "a tiny demonstration model (SmolLM2 135M): real protocol, poor answers" in said
    assert f"export JOBBKO_AI_URL=http://127.0.0.1:{port}/v1" in said
    assert "export JOBBKO_AI_MODEL=smollm2-135m-demonstration" in said
    assert (again.returncode, again.stderr) == (
        1,
        f"Nothing can listen on 127.0.0.1:{port}: Address already in use. Choose another port.\n",
    )


@pytest.mark.slow
def test_up_serves_local_models_to_its_worker_starts_them_again_and_ends_them(database, models_here):  # noqa: F811
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("JOBBKO_AI")}
    environment = {**quiet, "DATABASE_URL": settings.DATABASE_URL}
    up = subprocess.Popen(jobbko("up"), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        until(lambda: store.value("select count(*) from worker where stopped_at is null") == 1, 60)
        parts = {kind: pid for pid in children(up.pid) if (kind := kind_of(pid))}
        assert sorted(parts) == ["local-ai", "scheduler", "worker"]
        said = variables_of(parts["worker"])
        assert said["JOBBKO_AI_MODEL"] == "smollm2-135m-demonstration"
        assert "JOBBKO_AI_URL" not in variables_of(parts["scheduler"])
        until(lambda: answers(said["JOBBKO_AI_URL"]), 60)

        os.kill(parts["local-ai"], signal.SIGKILL)
        until(lambda: "local-ai" in map(kind_of, set(children(up.pid)) - {parts["local-ai"]}), 60)
        until(lambda: answers(said["JOBBKO_AI_URL"]), 60)  # where the worker knows it to be

        up.terminate()
        assert up.wait(timeout=60) == 0
        assert not answers(said["JOBBKO_AI_URL"])
    finally:
        up.kill()
        output, _ = up.communicate()
    assert "jobs that need a model get a tiny demonstration model (SmolLM2 135M): real protocol, poor" in output
    assert "local-ai ended with code -9" in output


def answers(url):
    try:
        return asked(url, "/health")[0] == 200
    except OSError:
        return False


def kind_of(pid):
    try:
        command = command_of(pid)
    except FileNotFoundError:
        return None
    kinds = {b"jobbko.localai": "local-ai", b"periodiq": "scheduler", b"dramatiq": "worker"}
    return next((kind for word, kind in kinds.items() if word in command), None)


def variables_of(pid):
    pairs = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)
