"""OpenAI's own API: chat, vision, embeddings. platform.openai.com/docs/guides/error-codes, and what is named beside."""

from __future__ import annotations

from typing import Any

from tests.ai.rows import openai


def error(message: str, type_: str | None, code: Any = None, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": type_, "param": param, "code": code}}


def chat(content: Any, finish_reason: str | None = "stop", **message: Any) -> dict[str, Any]:
    """https://platform.openai.com/docs/api-reference/chat/object"""
    said = {"role": "assistant", "content": content, "refusal": None, **message}
    usage = {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21}
    choice = {"index": 0, "message": said, "logprobs": None, "finish_reason": finish_reason}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}


QUOTA = "You exceeded your current quota, please check your plan and billing details."
#: help.openai.com/en/articles/6614457: billing errors may all have the type insufficient_quota; the code says which.
BILLING = (
    *("credit_balance_exhausted", "organization_spend_limit_exceeded", "project_spend_limit_exceeded"),
    *("organization_usage_limit_exceeded", "insufficient_quota"),
)
ORG = "in organization org-1 on tokens per min (TPM): Limit 30000"
FILTERED = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
CONTEXT = "This model's maximum context length is 8192 tokens, however you requested 8610 tokens"
FORMATS = "You uploaded an unsupported image. Please make sure your image is below 20 MB in size"
COUNTRY = "Country, region, or territory not supported"

ERRORS = [
    openai(
        "a wrong key",
        401,
        error("Incorrect API key provided: sk-proj-abc***********wxyz.", "invalid_request_error", "invalid_api_key"),
        "auth",
        says="Incorrect API key provided",
    ),
    openai("an address that is not allowed", 401, error("IP not authorized", "invalid_request_error"), "auth"),
    # https://portkey.ai/error-library/unsupported-location-error-10504
    openai("a country", 403, error(COUNTRY, "request_forbidden", "unsupported_country_region_territory"), "auth"),
    openai("a model nobody has", 404, error("The model `gpt-9` does not exist", None, "model_not_found"), "auth"),
    openai("a model nobody has, as 400", 400, error("The model `x` does not exist", "invalid_request_error"), "auth"),
    *(openai(f"no money: {code}", 429, error(QUOTA, "insufficient_quota", code), "credit") for code in BILLING),
    openai(
        "a billing code without the type",
        429,
        error("Spend limit reached", "requests", "project_spend_limit_exceeded"),
        "credit",
        headers={"Retry-After": "20"},
        seconds=20,
    ),
    openai(
        "too fast",
        429,
        error(f"Rate limit reached for gpt-4o {ORG}, Used 29937, Requested 385.", "tokens", "rate_limit_exceeded"),
        "rate-limit",
        headers={"retry-after": "7", "x-ratelimit-remaining-tokens": "0"},
        seconds=7,
    ),
    # openai-python, _base_client.py: the milliseconds are read first.
    openai(
        "too fast, in milliseconds",
        429,
        error("Rate limit reached", "requests", "rate_limit_exceeded"),
        "rate-limit",
        headers={"retry-after-ms": "2500", "retry-after": "3"},
        seconds=2.5,
    ),
    openai("slow down", 429, error("Slow down", "rate_limit_error", "slow_down"), "rate-limit"),
    # gpt-researcher #585, aider #1880 ("a hard error, you will always get this"): waiting does not help.
    openai(
        "one request above the limit of a minute",
        429,
        error(f"Request too large for gpt-4o {ORG}, Requested 82821.", "tokens", "rate_limit_exceeded"),
        "invalid",
    ),
    openai("too long", 400, error(CONTEXT, "invalid_request_error", "context_length_exceeded"), "invalid"),
    openai("a bad request", 400, error("Invalid service_tier argument", "invalid_request_error"), "invalid"),
    # karakeep #2789: our own prompt lacks the word.
    openai(
        "a prompt without the word",
        400,
        error("'messages' must contain the word 'json' in some form", "invalid_request_error", param="messages"),
        "invalid",
    ),
    # karakeep #2893 and #1047: the gateway is set up for another model; no job is to blame.
    openai(
        "a parameter that the model does not know",
        400,
        error(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'.",
            "invalid_request_error",
            "unsupported_parameter",
            "max_tokens",
        ),
        "auth",
    ),
    openai(
        "another response format (LM Studio)",
        400,
        {"error": "'response_format.type' must be 'json_schema' or 'text'"},
        "auth",
    ),
    openai("their fault", 500, error("The server had an error processing your request", "server_error"), "internal"),
    openai(
        "overloaded",
        503,
        error("The model is overloaded", "service_unavailable_error", "server_is_overloaded"),
        "outage",
        headers={"Retry-After": "120"},
        seconds=120,
    ),
    # The same code is 429 when it is about us and 503 when it is about them.
    openai("slow down, as 503", 503, error("Slow down", "service_unavailable_error", "slow_down"), "outage"),
    openai("a timeout", 408, error("Request timeout", "timeout"), "timeout"),
    # langroid PR #659: Azure refuses prompts with 400.
    openai(
        "filtered by Azure",
        400,
        {
            "error": {
                **error(FILTERED, None, "content_filter", "prompt")["error"],
                **{"status": 400, "innererror": {"code": "ResponsibleAIPolicyViolation"}},
            }
        },
        "content",
        says=FILTERED,
    ),
    # vision: gptpdf #6, STranslate #277, quepid #1697, roboflow vision experiments #11
    openai("a picture, odd code", 400, error(FORMATS, "invalid_request_error", "sanitizer_server_error"), "image"),
    openai("a picture's format", 400, error("No.", "invalid_request_error", "invalid_image_format"), "image"),
    openai("a picture's address", 400, error("No.", "invalid_request_error", "invalid_image_url"), "image"),
    openai(
        "a picture for a model without eyes",
        400,
        error("Invalid content type. image_url is only supported by certain models.", "invalid_request_error"),
        "image",
    ),
    # embeddings: PubSec-Info-Assistant #755, BERTopic #1425
    openai("an embedding's text is too long", 400, error(CONTEXT, "invalid_request_error"), "invalid"),
    openai("an embedding of nothing", 400, error("'$.input' is invalid.", "invalid_request_error"), "invalid"),
]

VECTOR = {"object": "embedding", "index": 0, "embedding": [0.1, -0.2]}
TOOL = {"id": "call_1", "type": "function", "function": {"name": "answer", "arguments": "{}"}}

ANSWERS = [
    openai("an answer", 200, chat('{"title": "Ærfugl"}'), None),
    openai("an answer in parts", 200, chat([{"type": "text", "text": "Hei"}]), None),
    openai("an answer by tool", 200, chat(None, "tool_calls", tool_calls=[TOOL]), None),
    openai("an answer that quotes an error", 200, chat("Your credit balance is too low. insufficient_quota"), None),
    openai("an answer with no error", 200, {**chat("Hei"), "error": None}, None),
    # bifrost #5425: usage may be null.
    openai("an answer without figures", 200, {**chat("Hei"), "usage": None}, None),
    # Whether what was cut off still parses, the caller finds out (instructor #2210).
    openai("cut off in the middle", 200, chat('{"title": "Ærf', "length"), None),
    # nest-server PR #607: all the tokens went into thinking.
    openai("cut off before the first word", 200, chat("", "length"), "invalid", says="lower the effort"),
    openai("an empty answer", 200, chat("  \n"), "invalid", says="an empty answer"),
    openai("no content", 200, chat(None), "invalid"),
    openai("no choice", 200, {**chat(""), "choices": []}, "invalid"),
    # litellm #8953
    openai("an answer that was filtered", 200, chat(None, "content_filter"), "content"),
    openai("half an answer that was filtered", 200, chat("First, take", "content_filter"), "content"),
    # https://platform.openai.com/docs/guides/structured-outputs#refusals
    openai("a refusal", 200, chat(None, refusal="I'm sorry, I cannot help."), "content", says="I cannot help"),
    openai("vectors", 200, {"object": "list", "data": [VECTOR], "model": "m"}, None),
    openai("no vectors", 200, {"object": "list", "data": [], "model": "m"}, "invalid"),
    openai("an empty vector", 200, {"object": "list", "data": [{**VECTOR, "embedding": []}]}, "invalid"),
]

ROWS = ERRORS + ANSWERS
