"""Anthropic Messages: platform.claude.com/docs/en/api/errors, …/rate-limits, …/handling-stop-reasons."""

from __future__ import annotations

from typing import Any

from tests.ai.rows import anthropic


def error(type_: str, message: str, **more: Any) -> dict[str, Any]:
    return {"type": "error", "error": {"type": type_, "message": message, **more}, "request_id": "req_011C"}


def message(*content: dict[str, Any], stop: str | None = "end_turn") -> dict[str, Any]:
    usage = {"input_tokens": 12, "output_tokens": 6}
    said = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": list(content)}
    return {**said, "stop_reason": stop, "stop_sequence": None, "usage": usage}


BAD = "invalid_request_error"
#: claude-code #4684, continue #10017
LOW = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade."
#: claude-code #2127, open-chat-studio #4590
LIMIT = "You have reached your specified API usage limits. You will regain access on 2026-10-01 at 00:00 UTC."
WORKSPACE = LIMIT.replace("specified", "specified workspace")
CAP = "You have reached your API usage limits: your organization has crossed its monthly API usage threshold."
#: nraiden/cofounder #53, claude-code #2664
PLACE = "messages.0.content.1.image.source.base64"
LARGE = f"{PLACE}: image exceeds 5 MB maximum: 5327908 bytes > 5242880 bytes"
WIDE = f"{PLACE}.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"
TEXT = {"type": "text", "text": '{"title": "Høst"}'}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "x"}

MONEY = [
    anthropic("a bill", 402, error("billing_error", "There's an issue with your billing."), "credit"),
    anthropic("credit, as a bad request", 400, error(BAD, LOW), "credit", says="credit balance is too low"),
    anthropic("a spend limit, as a bad request", 400, error(BAD, LIMIT), "credit", says="2026-10-01"),
    anthropic("a workspace's spend limit", 400, error(BAD, WORKSPACE), "credit"),
    anthropic(
        "a tier's cap, as a rate limit",
        429,
        error("rate_limit_error", CAP, details={"error_code": "enforced_spend_limit_reached"}),
        "credit",
    ),
    # Limits of the Claude Code workspace are the exception: they come with a time.
    anthropic(
        "the Claude Code workspace's limit",
        429,
        error("rate_limit_error", "This request would exceed your workspace's limit."),
        "rate-limit",
        headers={"retry-after": "1800"},
        seconds=1800,
    ),
]

ERRORS = [
    anthropic("a bad request", 400, error(BAD, "max_tokens: Field required"), "invalid", says="Field required"),
    anthropic("too long", 400, error(BAD, "prompt is too long: 200480 tokens > 200000 maximum"), "invalid"),
    anthropic("too big a schema", 400, error(BAD, "Schema is too complex for compilation."), "invalid"),
    anthropic("a picture, no reason", 400, error(BAD, "Could not process image"), "image"),
    anthropic("a picture, too large", 400, error(BAD, LARGE), "image", says="5242880"),
    anthropic("a picture, too wide", 400, error(BAD, WIDE), "image"),
    anthropic("content", 400, error(BAD, "Output blocked by content filtering policy"), "content"),
    anthropic("a wrong key", 401, error("authentication_error", "invalid x-api-key"), "auth"),
    anthropic("no right", 403, error("permission_error", "Your API key may not use this model."), "auth"),
    anthropic("no such model", 404, error("not_found_error", "model: claude-9"), "auth", says="model: claude-9"),
    # It comes from the edge, and need not be JSON.
    anthropic(
        "too large", 413, "<html><head><title>413 Payload Too Large</title></head></html>", "invalid", says="413"
    ),
    anthropic("too large, in JSON", 413, error("request_too_large", "Request exceeds the maximum size"), "invalid"),
    anthropic(
        "too fast",
        429,
        error("rate_limit_error", "Number of request tokens has exceeded your per-minute rate limit"),
        "rate-limit",
        headers={"Retry-After": "42"},
        seconds=42,
    ),
    anthropic("too fast, without a time", 429, error("rate_limit_error", "Slow."), "rate-limit"),
    anthropic("their fault", 500, error("api_error", "Internal server error"), "internal"),
    anthropic("a timeout", 504, error("timeout_error", "Request timed out."), "timeout"),
    anthropic("overloaded", 529, error("overloaded_error", "Overloaded"), "outage"),
    anthropic("overloaded, as 200", 200, error("overloaded_error", "Overloaded"), "outage"),
    # "The values within these objects may expand": an unknown type is judged by its status, else charged.
    anthropic("a new type", 409, error("conflict_error", "The request conflicts."), "internal"),
    anthropic("a new type of 400", 400, error("brand_new_error", "No."), "invalid"),
]

ANSWERS = [
    anthropic("an answer", 200, message(TEXT), None),
    anthropic("an answer after thinking", 200, message(THOUGHT, TEXT), None),
    anthropic(
        "an answer by tool", 200, message({"type": "tool_use", "name": "answer", "input": {}}, stop="tool_use"), None
    ),
    anthropic("an answer that was cut off", 200, message(TEXT, stop="max_tokens"), None),
    anthropic("an answer in a full window", 200, message(TEXT, stop="model_context_window_exceeded"), None),
    anthropic(
        "an answer about errors", 200, message({"type": "text", "text": "overloaded_error: credit balance"}), None
    ),
    anthropic("nothing but thoughts", 200, message(THOUGHT, stop="max_tokens"), "invalid", says="lower the effort"),
    anthropic("a full window", 200, message(stop="model_context_window_exceeded"), "invalid", says="context window"),
    anthropic("nothing", 200, message(), "invalid"),
    anthropic("a turn that is paused", 200, message(stop="pause_turn"), "invalid"),
    anthropic("a refusal", 200, message(stop="refusal"), "content"),
    anthropic(
        "a refusal in words",
        200,
        message({"type": "text", "text": "I can't."}, stop="refusal"),
        "content",
        says="I can't",
    ),
    anthropic("an answer that broke off", 200, '{"id": "msg_1", "content": [{"ty', "internal"),
]

ROWS = MONEY + ERRORS + ANSWERS
