"""The command line of Claude Code, as a model without tools: `claude -p`.

https://docs.anthropic.com/en/docs/claude-code/cli-reference. It is an agent, so everything that makes it one is off: no
tools, one turn, no retries of its own, an empty folder to stand in.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from typing import Any

from jobbko import clients
from jobbko.clients.reply import Reply

COMMAND = "claude"


def ask(model: str, system: str, text: str, schema: dict[str, Any] | None, *, service: str, timeout: float) -> Reply:
    """Its one JSON object, or what it said instead. status is None: a command has an exit code."""
    clients.permit(service)
    command = [COMMAND, "-p", "--output-format", "json", "--max-turns", "1", "--model", model, "--tools", ""]
    command += ["--setting-sources", "", "--strict-mcp-config"]
    command += ["--system-prompt", system] if system else []
    command += ["--json-schema", json.dumps(schema)] if schema is not None else []
    with tempfile.TemporaryDirectory(prefix="jobbko-claude-") as empty:
        try:
            done = subprocess.run(
                command,
                input=text,
                capture_output=True,
                text=True,
                timeout=timeout,
                cwd=empty,
                env=os.environ | {"CLAUDE_CODE_MAX_RETRIES": "0"},
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Reply("cli", None, {}, None, error)
    try:
        body: Any = json.loads(done.stdout)
    except (ValueError, RecursionError):
        body = done.stdout or done.stderr
    return Reply("cli", None, {}, body, exit_code=done.returncode)
