"""What came back from a model provider, before anybody has judged it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back from a model provider, as it came.

    provider: openai (any server that speaks its language: llama.cpp, vLLM, Ollama, LiteLLM, speaches), openrouter,
    anthropic or cli (`claude -p`).
    """

    provider: str
    #: Of HTTP; None if there was no answer, and for cli, which has an exit code instead.
    status: int | None
    headers: Mapping[str, str]
    #: Parsed JSON, or the text if it is none.
    body: Any
    #: What httpx or subprocess raised instead of an answer.
    error: Exception | None = None
    exit_code: int | None = None
