"""Anthropic's Messages API: https://docs.anthropic.com/en/api/messages. One call is one request."""

from __future__ import annotations

from typing import Any

from jobbko import clients
from jobbko.clients.reply import Reply

URL = "https://api.anthropic.com"
VERSION = "2023-06-01"


def messages(url: str, key: str, body: dict[str, Any], *, service: str, timeout: float) -> Reply:
    """url: "" for Anthropic's own; body: model, max_tokens, system, messages, output_config."""
    return clients.exchange(
        "POST",
        f"{(url or URL).rstrip('/')}/v1/messages",
        service=service,
        provider="anthropic",
        timeout=timeout,
        json=body,
        headers={"x-api-key": key, "anthropic-version": VERSION},
    )
