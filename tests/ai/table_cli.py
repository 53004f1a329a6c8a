"""`claude -p --output-format json`: code.claude.com/docs/en/headless, …/errors, and threads named beside."""

from __future__ import annotations

import subprocess
from typing import Any

from tests.ai.rows import MIDNIGHT, Row, cli


def result(said: str | None, *, status: int | None = None, **more: Any) -> dict[str, Any]:
    """claude-code #79500: an error of the API is a "success" with is_error."""
    named = {"type": "result", "subtype": "success", "is_error": True, "api_error_status": status, "result": said}
    return {**named, "num_turns": 1, "session_id": "s", "total_cost_usd": 0.01, "usage": {}, **more}


def failed(subtype: str, *errors: str, **more: Any) -> dict[str, Any]:
    """There is no `result` then, and `errors` may be empty (claude-code-action #823)."""
    return {**result(None), "subtype": subtype, "errors": list(errors), **more}


def raised(what: str, error: Exception, kind: str) -> Row:
    return cli(what, None, kind, error=error)


ANSWER = result("Ærfugl", is_error=False)
LARGE = 'API Error: 400 {"type":"error","error":{"message":"messages.0: image exceeds 5 MB maximum: 6507076 bytes"}}'
DISABLED = "Your organization has disabled Claude subscription access for Claude Code"

ROWS = [
    cli("an answer", ANSWER, None, exit_code=0),
    cli(
        "an answer that fits a schema", {**ANSWER, "result": "", "structured_output": {"title": "x"}}, None, exit_code=0
    ),
    cli("an answer about money", result("Credit balance is too low", is_error=False), None, exit_code=0),
    cli("an answer as the last event", [{"type": "system", "subtype": "init"}, ANSWER], None, exit_code=0),
    cli("an empty answer", result("", is_error=False), "invalid", exit_code=0),
    cli("a refusal", result("", is_error=False, stop_reason="refusal"), "content", exit_code=0),
    cli("an error with exit code 0", result("API Error: 500 …", status=500), "internal", exit_code=0),
    cli("no money", result("Credit balance is too low"), "credit", says="Credit balance is too low"),
    # claude-code #44105: it is no JSON, and begins with the word "Credit".
    cli("no money, no JSON", "Credit balance is too low", "credit", says="Credit balance"),
    cli("a spend limit", result("API Error: 400 You have reached your specified API usage limits."), "credit"),
    # geny-executor 2.66.2
    cli("a seat's spend limit", result("You've hit your monthly spend limit · raise it", status=429), "credit"),
    # claude-code #11429: until 2026-09-20 22:00 UTC; it is 21:30.
    cli("a seat's limit", result("Claude AI usage limit reached|1789941600", status=429), "rate-limit", seconds=1800),
    # claude-code #74079, #79136: 23:45 in Berlin is 21:45 UTC.
    cli(
        "a seat's session",
        result("You've hit your session limit · resets 11:45pm (Europe/Berlin)", status=429),
        "rate-limit",
        seconds=900,
    ),
    cli(
        "a seat's session, hours away",
        result("You've hit your session limit · resets 5pm (Asia/Tokyo)"),
        "rate-limit",
        seconds=3600,
    ),
    cli("a seat's week", result("You've hit your weekly limit · resets Jul 18 at 12am"), "rate-limit", seconds=3600),
    cli(
        "a seat's extra usage",
        result("You're out of extra usage · resets May 8, 5pm (UTC)"),
        "rate-limit",
        seconds=3600,
    ),
    cli("a seat's session, no JSON", "You've hit your session limit", "rate-limit"),
    cli("too fast", result("Request rejected (429)"), "rate-limit"),
    cli("too fast, for all", result("Server is temporarily limiting requests (not your usage limit)"), "rate-limit"),
    cli("overloaded", result("API Error: Repeated 529 Overloaded errors", status=529), "outage"),
    cli("overloaded, by its words", result("API Error: Repeated 529 Overloaded errors"), "outage"),
    cli("unavailable", result("API Error: no available channel", status=503), "outage"),
    cli("no connection", result("Unable to connect to API (ECONNREFUSED)"), "outage"),
    cli("their fault", result('API Error: 500 {"type":"error","error":{"type":"api_error"}}', status=500), "internal"),
    cli("a timeout", result("Request timed out"), "timeout"),
    cli("a wrong key", result("Failed to authenticate. API Error: 401 Invalid authentication", status=401), "auth"),
    cli("not logged in", result("Not logged in · Please run /login"), "auth"),
    cli("not logged in, no JSON", "Invalid API key · Please run /login", "auth"),
    cli("no right", result(DISABLED, status=403), "auth"),
    # claude-code #52569
    cli("no such model", result("There's an issue with the selected model (x). It may not exist."), "auth"),
    cli("no such model, by its status", result("API Error: 404", status=404), "auth"),
    cli("too long", result("Prompt is too long"), "invalid"),
    cli("a picture", result(LARGE), "image", says="6507076"),
    cli("content", result("API Error: unable to respond, which appears to violate our Usage Policy"), "content"),
    cli("turns", failed("error_max_turns"), "invalid", says="error_max_turns"),
    cli("no data that fits", failed("error_max_structured_output_retries", "Bad output"), "invalid", says="Bad output"),
    cli("its own budget", failed("error_max_budget_usd"), "budget", until=MIDNIGHT),
    cli("broke off", failed("error_during_execution", "Tool crashed"), "internal"),
    cli(
        "broke off for a limit", failed("error_during_execution", "API Error: 429", api_error_status=429), "rate-limit"
    ),
    cli("an end that is new", failed("error_of_tomorrow", is_error=False), "internal"),
    cli("killed", "", "internal", exit_code=-9, says="exit code -9"),
    cli("no word", None, "internal", says="exit code 1"),
    raised("not installed", FileNotFoundError(2, "No such file or directory: 'claude'"), "auth"),
    raised("not allowed to run", PermissionError(13, "Permission denied: 'claude'"), "auth"),
    raised("took too long", subprocess.TimeoutExpired(["claude", "-p"], 300), "timeout"),
    raised("cannot be started", OSError(7, "Argument list too long"), "internal"),
]
