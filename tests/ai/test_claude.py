"""The command `claude -p` as a gateway, played by a script that answers as the command does."""

from __future__ import annotations

import json
import os

import pytest

from jobbko.ai.calls import complete
from jobbko.ai.gateways import Gateway
from jobbko.ai.prompts import prompt
from jobbko.ai.wire import Image
from jobbko.errors import Charged, GateClosed, Throttled
from tests.ai.conftest import configure, run

pytestmark = pytest.mark.usefixtures("database")
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
SCRIPT = """#!/bin/sh
cat > "$0.stdin"
printf '%s\\n' "$@" > "$0.arguments"
ls -A > "$0.folder"
echo "$CLAUDE_CODE_MAX_RETRIES" > "$0.retries"
cat "$0.answer"
exit $(cat "$0.code")
"""


@pytest.fixture
def claude(tmp_path, monkeypatch):
    """Says what it is told to; leaves behind how it was called."""
    script = tmp_path / "claude"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    configure(monkeypatch, Gateway("cli", "cli", provider="anthropic", model="haiku"), prices={"haiku": {"call": 0.5}})

    def says(answer, code=0):
        (tmp_path / "claude.answer").write_text(answer if isinstance(answer, str) else json.dumps(answer))
        (tmp_path / "claude.code").write_text(str(code))

    says.left = lambda what: (tmp_path / f"claude.{what}").read_text()
    return says


def result(**said):
    usage = {"input_tokens": 12, "cache_read_input_tokens": 300, "output_tokens": 7}
    return {"type": "result", "subtype": "success", "is_error": False, "usage": usage, "total_cost_usd": 0.01, **said}


def test_it_is_a_model_and_no_agent(claude):
    claude(result(result="{}", structured_output={"n": 3}))
    assert complete(prompt("count", "How many?\n$document", document="1 2 3"), SCHEMA).data == {"n": 3}
    assert run() == ("ok", None, 12, 300, 7, 0.01, "provider")
    arguments = claude.left("arguments").splitlines()
    assert arguments[:7] == ["-p", "--output-format", "json", "--max-turns", "1", "--model", "haiku"]
    assert arguments[arguments.index("--tools") + 1] == ""
    assert claude.left("folder") == ""
    assert claude.left("retries") == "0\n"
    assert "1 2 3" in claude.left("stdin")  # and not among the arguments, which every user of the machine can read
    assert "1 2 3" not in claude.left("arguments")


def test_an_error_that_calls_itself_a_success_is_one(claude):
    claude(result(is_error=True, api_error_status=529, result="API Error: overloaded"), code=1)
    with pytest.raises(Throttled):
        complete(prompt("count", "How many?"))
    claude("Credit balance is too low", code=1)
    with pytest.raises(GateClosed) as refused:
        complete(prompt("count", "How many?"))
    assert (refused.value.gate, refused.value.reason) == ("llm:cli", "credit")


def test_a_command_that_is_not_installed_is_configuration_and_pictures_are_refused(claude, monkeypatch):
    with pytest.raises(Charged, match="takes no pictures"):
        complete(prompt("count", "How many?"), images=[Image(b"x", "image/png")])
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(GateClosed) as refused:
        complete(prompt("count", "How many?"))
    assert refused.value.reason == "auth"
