"""OpenRouter: openrouter.ai/docs/api_reference/errors-and-debugging (c26125a), …/limits, and threads named beside."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.ai.rows import MIDNIGHT, Row, openrouter
from tests.ai.table_openai import chat


def error(code: Any, message: str = "Provider returned error", **metadata: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "metadata": metadata}, "user_id": "user_1"}


def typed(error_type: str, status: int, kind: str) -> Row:
    """The table "Typed error codes"."""
    return openrouter(error_type, status, error(status, "No.", error_type=error_type), kind)


def unavailable(code: str, status: int, kind: str, error_type: str, **more: Any) -> Row:
    """The table "Availability codes"."""
    seconds = more.get("retry_after")
    named = {"code": code, "retryable": False, "requested_models": ["acme/m"], "docs_url": "https://…", **more}
    body = {"error": {"message": "No.", "error_type": error_type, "http_status": status, "availability": named}}
    return openrouter(f"{code} {more or ''}", status, body, kind, seconds=seconds)


TYPED = [
    typed("authentication", 401, "auth"),
    typed("permission_denied", 403, "auth"),
    typed("payment_required", 402, "credit"),
    typed("rate_limit_exceeded", 429, "rate-limit"),
    typed("provider_overloaded", 503, "outage"),
    typed("provider_unavailable", 502, "outage"),
    typed("timeout", 504, "timeout"),
    typed("server", 500, "internal"),
    typed("unmapped", 500, "internal"),
    typed("not_found", 404, "auth"),
    typed("content_policy_violation", 400, "content"),
    typed("refusal", 400, "content"),
    typed("invalid_image", 400, "image"),
    typed("image_too_large", 400, "image"),
    typed("image_too_small", 400, "image"),
    typed("unsupported_image_format", 400, "image"),
    typed("image_not_found", 404, "image"),
    typed("image_download_failed", 400, "image"),
    typed("context_length_exceeded", 400, "invalid"),
    typed("max_tokens_exceeded", 400, "invalid"),
    typed("string_too_long", 400, "invalid"),
    typed("invalid_request", 400, "invalid"),
    typed("invalid_prompt", 400, "invalid"),
    typed("payload_too_large", 413, "invalid"),
    typed("unprocessable", 422, "invalid"),
    typed("token_limit_exceeded", 400, "credit"),
]

AVAILABILITY = [
    unavailable("capacity_exhausted", 429, "rate-limit", "rate_limit_exceeded", retryable=True, retry_after=40),
    unavailable("temporarily_unavailable", 503, "outage", "provider_overloaded", retryable=True, retry_after=90),
    unavailable("model_not_found", 400, "auth", "invalid_request"),
    unavailable("wrong_endpoint", 400, "auth", "invalid_request"),
    unavailable("no_endpoints", 404, "auth", "not_found"),
    unavailable("model_deprecated", 404, "auth", "not_found"),
    unavailable("model_unavailable_upstream", 404, "auth", "not_found"),
    unavailable("region_restricted", 403, "auth", "permission_denied"),
    unavailable("privacy_restricted", 404, "auth", "not_found", excluded_by=["data_policy:zdr"]),
    unavailable("constraint_filtered", 404, "auth", "not_found", constraint={"field": "max_price", "detail": "…"}),
    unavailable("free_variant_ended", 404, "auth", "not_found"),
    # "Always switch on availability.retryable, not just the code."
    unavailable("no_endpoints", 404, "outage", "not_found", retryable=True),
    unavailable("something_new", 404, "outage", "not_found", retryable=True),
    # One prompt that is too long for all of them is no setting.
    unavailable("constraint_filtered", 404, "invalid", "not_found", excluded_by=["context_length"]),
]

IN_FLIGHT = "This request would exceed your available credits given your current in-flight requests."
AFFORD = "This request requires more credits, or fewer max_tokens. You requested up to 16384, but can only afford 3661."
SPENT = "Budget limit exceeded"
NEXT_MONTH = datetime(2026, 10, 1, tzinfo=UTC)
WINDOW = {"scope": "key", "limit_usd": 5, "spend_usd": 5.01, "resets_at": "2026-10-01T00:00:00.000Z"}
#: Shared pools of free models, by the day: 00:00 UTC of the 21st, in milliseconds.
FREE = {"headers": {"X-RateLimit-Limit": "50", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1789948800000"}}

LIMITS = [
    openrouter("402 without a reason", 402, error(402, AFFORD), "credit", says="can only afford 3661"),
    openrouter("402 for credits", 402, error(402, "Insufficient credits", limit_source="openrouter_credits"), "credit"),
    openrouter(
        "402 in flight",
        402,
        error(402, IN_FLIGHT, reason="in_flight_budget_exhausted", limit_source="openrouter_in_flight_budget"),
        "rate-limit",
        headers={"Retry-After": "12"},
        seconds=12,
    ),
    openrouter(
        "402 in flight, of the type of all 402s",
        402,
        error(402, IN_FLIGHT, error_type="payment_required", limit_source="openrouter_in_flight_budget"),
        "rate-limit",
    ),
    openrouter("402 with a time", 402, error(402, "Wait."), "rate-limit", headers={"retry-after": "3"}, seconds=3),
    openrouter(
        "402 that never fits",
        402,
        error(402, IN_FLIGHT, reason="weight_exceeds_budget", limit_source="openrouter_credits"),
        "credit",
    ),
    openrouter("402 for a key", 402, error(402, SPENT, limit_source="openrouter_key_limit"), "credit"),
    openrouter(
        "402 for a key that is renewed",
        402,
        error(402, SPENT, limit_source="openrouter_key_limit", **WINDOW),
        "budget",
        until=NEXT_MONTH,
    ),
    *(
        openrouter(
            f"403 for {source}", 403, error(403, SPENT, limit_source=source, **WINDOW), "budget", until=NEXT_MONTH
        )
        for source in ("openrouter_guardrail_budget", "openrouter_workspace_budget", "openrouter_key_limit")
    ),
    openrouter(
        "403 for a key that is never renewed",
        403,
        error(403, SPENT, limit_source="openrouter_key_limit", **{**WINDOW, "resets_at": None}),
        "budget",
        until=MIDNIGHT,
    ),
    openrouter(
        "403 for a key that was renewed long ago",
        403,
        error(403, SPENT, limit_source="openrouter_key_limit", **{**WINDOW, "resets_at": "2026-01-01T00:00:00Z"}),
        "budget",
        until=MIDNIGHT,
    ),
    openrouter("403", 403, error(403, "Key disabled"), "auth"),
    openrouter(
        "403 by a guardrail",
        403,
        error(403, "Request blocked: prompt injection patterns detected", patterns=["ignore all previous"]),
        "content",
    ),
    openrouter(
        "403 by a guardrail, of the type of all 403s",
        403,
        error(403, "Request blocked", error_type="permission_denied", patterns=["ignore all previous"]),
        "content",
    ),
    openrouter(
        "403 by moderation of a text about money",
        403,
        error(403, "Input flagged", reasons=["violence"], flagged_input="credit balance is too low", provider_name="X"),
        "content",
    ),
    openrouter("429 by the day", 429, error(429, "free-models-per-day", **FREE), "rate-limit", seconds=3600),
    # ethanpil's probe of 2026-10-02: the body repeats the header, which browsers cannot read.
    openrouter("429 in the body", 429, error(429, "Rate limited", retry_after_seconds=9), "rate-limit", seconds=9),
    # open-webui/computer #293: the reason is in metadata.raw.
    openrouter(
        "429 upstream",
        429,
        error(429, raw="z-ai/glm is temporarily rate-limited upstream.", provider_name="BaseTen"),
        "rate-limit",
        says="Provider returned error; BaseTen: z-ai/glm is temporarily rate-limited",
    ),
    # The pool's provider is out of money, not we.
    openrouter("429 upstream for money", 429, error(429, raw="Your credit balance is too low"), "rate-limit"),
    openrouter("401", 401, error(401, "No auth credentials found"), "auth"),
    openrouter("408", 408, error(408, "Request timed out"), "timeout"),
]

NESTED = '{"error":{"type":"invalid_request_error","message":"Model \'k2\' supports at most 1 image per prompt."}}'
DROPPED = {
    "code": 502,
    "message": "Provider disconnected mid-stream",
    "metadata": {"error_type": "provider_unavailable"},
}
PARTIAL = {"message": {"role": "assistant", "content": "partial output..."}, "finish_reason": "error"}

ANSWERS = [
    openrouter("an answer", 200, {**chat("Hei"), "provider": "Parasail"}, None),
    openrouter(
        "an error as 200",
        200,
        error(429, "Rate limit exceeded", error_type="rate_limit_exceeded", provider_code="rate_limited"),
        "rate-limit",
    ),
    openrouter("no money as 200", 200, error(402, "Insufficient credits"), "credit"),
    # Saturn PR #43: usage null, and half an answer beside.
    openrouter("half an answer", 200, {"choices": [{**PARTIAL, "error": DROPPED}], "usage": None}, "outage"),
    openrouter("half an answer without a reason", 200, {"choices": [PARTIAL], "usage": None}, "internal"),
    openrouter(
        "an error beside an answer",
        200,
        {**chat("", "error"), **error(400, "Output flagged", error_type="content_policy_violation")},
        "content",
    ),
    openrouter("an error without a status", 200, {"error": {"message": "?"}}, "internal"),
    # OmniRoute #3044, go-openrouter PR #21
    openrouter(
        "an upstream's picture", 400, error(400, raw=NESTED, provider_name="Crucible"), "image", says="at most 1"
    ),
    openrouter("an upstream's limit", 400, error(400, raw="prompt is too long: 9 > 8", provider_name="A"), "invalid"),
    # openclaw PR #99079: it has the model, but none that can see.
    openrouter("no eyes", 404, error(404, "No endpoints found that support image input"), "image"),
    # The form from before availability codes.
    openrouter("no such model", 400, error(400, "acme/fake-1.0 is not a valid model ID"), "auth"),
    openrouter("no endpoints", 404, error(404, "No endpoints found for acme/m."), "auth"),
    # "When no content is generated": warming up.
    openrouter("no content", 200, chat(""), "invalid"),
    openrouter("no JSON", 200, "upstream connect error", "internal"),
]

ROWS = TYPED + AVAILABILITY + LIMITS + ANSWERS
