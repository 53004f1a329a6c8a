"""Whatever speaks OpenAI's chat and embeddings API: LiteLLM, OpenRouter, llama.cpp, vLLM, Ollama, OpenAI.

https://platform.openai.com/docs/api-reference/chat and /embeddings. One call is one request; nothing is tried again.
"""

from __future__ import annotations

from typing import Any

from jobbko import clients
from jobbko.clients.reply import Reply


def chat(url: str, key: str, body: dict[str, Any], *, service: str, provider: str, timeout: float) -> Reply:
    """url: up to and including /v1; body: model, messages, response_format, …"""
    return _post(url, "chat/completions", key, body, service, provider, timeout)


def embeddings(url: str, key: str, body: dict[str, Any], *, service: str, provider: str, timeout: float) -> Reply:
    """body: model, input (a list of texts)."""
    return _post(url, "embeddings", key, body, service, provider, timeout)


def _post(url: str, path: str, key: str, body: dict[str, Any], service: str, provider: str, timeout: float) -> Reply:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return clients.exchange(
        "POST",
        f"{url.rstrip('/')}/{path}",
        service=service,
        provider=provider,
        timeout=timeout,
        json=body,
        headers=headers,
    )
