"""What an answer without an error still lacks: content, or the model's will to give any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobbko.ai.faults import Kind, first, mapping, text
from jobbko.ai.wording import readable
from jobbko.clients.reply import Reply

_EMPTY = "an empty answer"
#: nest-server PR #607: a higher limit does not help there, a lower effort does.
_SPENT = f"{_EMPTY}: all its tokens were spent before the first word, probably on reasoning; lower the effort"
Finding = tuple[Kind, str]


def lacking(reply: Reply) -> Finding | None:
    """None: it can be used. Whether it fits what was asked for, its caller knows: an answer that was cut may still."""
    body = reply.body
    if isinstance(body, str):
        return _plain(reply, body)
    if not isinstance(body, dict):
        return "internal", "an answer without a body"
    if reply.provider == "anthropic" or body.get("type") == "message":
        return _message(body)
    if "choices" in body:
        return _choice(mapping(first(body["choices"])))
    if "data" in body:
        return None if mapping(first(body["data"])).get("embedding") else ("invalid", _EMPTY)
    # A transcript may be empty: there are silent recordings.
    return (
        None if isinstance(body.get("text"), str) or "segments" in body else ("internal", "an answer of another form")
    )


def _choice(choice: Mapping[str, Any]) -> Finding | None:
    """https://platform.openai.com/docs/api-reference/chat/object; `error` is OpenRouter's (errors-and-debugging)."""
    message, reason = mapping(choice.get("message")), choice.get("finish_reason")
    if reason == "error":
        return "internal", "the provider broke off the answer"
    if reason == "content_filter":
        return "content", "the answer was filtered"
    if refusal := text(message.get("refusal")):
        return "content", refusal
    if _content(message.get("content")) or text(choice.get("text")):
        return None
    if message.get("tool_calls") or message.get("function_call"):
        return None
    return "invalid", _SPENT if reason == "length" else _EMPTY


def _message(body: Mapping[str, Any]) -> Finding | None:
    """https://platform.claude.com/docs/en/api/handling-stop-reasons"""
    reason = body.get("stop_reason")
    if reason == "refusal":
        return "content", _content(body.get("content")) or "the model refused to answer"
    if _content(body.get("content")):
        return None
    if reason == "model_context_window_exceeded":
        return "invalid", f"{_EMPTY}: the context window is full"
    return "invalid", _SPENT if reason == "max_tokens" else _EMPTY


def _content(content: Any) -> str:
    """The text of it, or of its first part with any; a tool that is used counts as one, for it is asked for as one."""
    if not isinstance(content, list):
        return text(content)
    parts = [mapping(each) for each in content]
    return next((said for each in parts if (said := text(each.get("text")) or text(each.get("name")))), "")


def _plain(reply: Reply, body: str) -> Finding | None:
    """Subtitles are text. Anything else should have been JSON."""
    form = next((str(value).lower() for name, value in reply.headers.items() if name.lower() == "content-type"), "")
    start = body.lstrip()[:200].lower()
    if "html" in form or start.startswith(("<!doctype html", "<html")):
        return "auth", f"a web page instead of an answer, so the address is not that of an API: {readable(body)}"
    subtitles = start.startswith("webvtt") or "-->" in start or "text/" in form
    if reply.provider == "openai" and subtitles:
        return None
    return "internal", f"no JSON: {body}" if start else "an answer without a body"
