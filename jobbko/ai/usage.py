"""What an answer says that it took: tokens of four kinds that never overlap, and money, if the provider names it.

Anthropic counts cached tokens beside `input_tokens`, OpenAI and OpenRouter inside `prompt_tokens`; half of all wrong
bills come of that (langfuse/langfuse#12306, BerriAI/litellm#11364). They are told apart here, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from jobbko.clients.reply import Reply
from jobbko.store.ledger import Tokens


def tokens(reply: Reply) -> Tokens:
    """None where the answer says nothing, or nothing that can be a count."""
    usage = _mapping(_mapping(reply.body).get("usage"))
    if reply.provider in ("anthropic", "cli"):
        return Tokens(
            input=_count(usage.get("input_tokens")),
            cache_read=_count(usage.get("cache_read_input_tokens")),
            cache_write=_count(usage.get("cache_creation_input_tokens")),
            output=_count(usage.get("output_tokens")),
        )
    details = _mapping(usage.get("prompt_tokens_details"))
    prompt = _count(usage.get("prompt_tokens"))
    read, write = _count(details.get("cached_tokens")), _count(details.get("cache_write_tokens"))
    outside = None if prompt is None else max(0, prompt - (read or 0) - (write or 0))
    return Tokens(input=outside, cache_read=read, cache_write=write, output=_output(usage, prompt))


def money(reply: Reply) -> Decimal | None:
    """Dollars that the provider itself names: OpenRouter's `usage.cost`, LiteLLM's header, the CLI's total."""
    body = _mapping(reply.body)
    for said in (
        _mapping(body.get("usage")).get("cost") if reply.provider == "openrouter" else None,
        reply.headers.get("x-litellm-response-cost"),
        body.get("total_cost_usd") if reply.provider == "cli" else None,
    ):
        if (found := _dollars(said)) is not None:
            return found
    return None


def served(reply: Reply) -> str | None:
    """The model that the answer names."""
    found = _mapping(reply.body).get("model")
    return found[:200] if isinstance(found, str) else None


def _output(usage: Mapping[str, Any], prompt: int | None) -> int | None:
    if (found := _count(usage.get("completion_tokens"))) is not None:
        return found
    return 0 if prompt is not None else None  # embeddings have no output


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def _dollars(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        return None
    return found if found.is_finite() and 0 <= found < 100_000 else None
