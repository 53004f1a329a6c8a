"""What `claude -p --output-format json` says: it looks like a success until `is_error` is read.

https://code.claude.com/docs/en/headless and https://code.claude.com/docs/en/errors; claude-code #79500, #44105
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jobbko.ai.faults import Fault, Kind, kind_of, mapping, text
from jobbko.clients.reply import Reply

_STATUS = re.compile(r"\bAPI Error:? (?:\w+ )?(\d{3})\b|\bRequest rejected \((\d{3})\)")
#: A seat's limits. They are renewed by themselves.
_SEAT = re.compile(
    r"usage limit reached|hit your [\w ]*limit|out of extra usage|temporarily limiting requests", re.IGNORECASE
)
_SPEND = re.compile(r"spend limit", re.IGNORECASE)
_ENDED: dict[str, Kind] = {
    "error_max_turns": "invalid",
    "error_max_structured_output_retries": "invalid",
    "error_max_budget_usd": "budget",
}


def finding(reply: Reply) -> tuple[Kind, str] | None:
    """What is wrong, and its words; None if there is an answer."""
    result = _result(reply.body)
    if result is None:
        return _of_words(reply, text(reply.body) or f"no answer, exit code {reply.exit_code}", None)
    subtype = text(result.get("subtype"))
    if not result.get("is_error") and not subtype.startswith("error"):
        return _of_answer(result)
    status = result.get("api_error_status")
    if subtype in _ENDED and not isinstance(status, int):
        return _ENDED[subtype], _said(result)
    return _of_words(reply, _said(result), status)


def _result(body: Any) -> Mapping[str, Any] | None:
    """With --verbose it is a list of events, of which the result is the last."""
    if isinstance(body, list):
        body = next((each for each in reversed(body) if mapping(each).get("type") == "result"), None)
    return body if isinstance(body, dict) else None


def _said(result: Mapping[str, Any]) -> str:
    errors = result.get("errors")
    said = [text(each) for each in errors[:20]] if isinstance(errors, list) else []
    return text(result.get("result")) or "; ".join(filter(None, said)) or text(result.get("subtype")) or "no word"


def _of_words(reply: Reply, words: str, status: Any) -> tuple[Kind, str]:
    named = _STATUS.search(words[:200])
    if not isinstance(status, int) and named:
        status = int(named[1] or named[2])
    if _SPEND.search(words[:200]):
        return "credit", words
    if _SEAT.search(words[:200]):
        return "rate-limit", words
    known = status if isinstance(status, int) else None
    return kind_of(Fault(reply.provider, known, frozenset(), words)), words


def _of_answer(result: Mapping[str, Any]) -> tuple[Kind, str] | None:
    if result.get("stop_reason") == "refusal":
        return "content", text(result.get("result")) or "the model refused to answer"
    if result.get("structured_output") is not None or text(result.get("result")):
        return None
    return "invalid", "an empty answer"
