"""One sign alone, so that it counts whatever stands beside it: a code with status 200, a sentence, a bare status.

Codes and what they mean are those of llm.md 2.0 and 2.4 to 2.6; the sentences are from the threads of the other tables.
"""

from __future__ import annotations

from tests.ai.rows import MIDNIGHT, Row, cli, openai, openrouter
from tests.ai.table_openai import chat

CODES = {
    "credit": (
        *("billing_error", "insufficient_quota", "credit_balance_exhausted", "organization_spend_limit_exceeded"),
        *("project_spend_limit_exceeded", "organization_usage_limit_exceeded", "enforced_spend_limit_reached"),
        *("payment_required", "billing_hard_limit_reached", "billing_not_active"),
    ),
    "budget": ("budget_exceeded",),
    "auth": (
        *("authentication_error", "authentication", "permission_error", "permission_denied", "invalid_api_key"),
        *("model_not_found", "no_endpoints", "model_deprecated", "privacy_restricted", "not_found_error", "not_found"),
        *("unsupported_country_region_territory", "unsupported_parameter", "unsupported_value"),
    ),
    "rate-limit": ("rate_limit_error", "rate_limit_exceeded"),
    "outage": (
        *("overloaded_error", "server_is_overloaded", "provider_overloaded", "provider_unavailable"),
        "unavailable_error",
    ),
    "timeout": ("timeout_error", "timeout"),
    "content": ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation", "refusal"),
    "image": (
        *("invalid_image", "image_too_large", "image_too_small", "unsupported_image_format", "image_not_found"),
        *("image_download_failed", "invalid_image_format", "invalid_image_url", "image_parse_error"),
    ),
    "invalid": (
        *("context_length_exceeded", "exceed_context_size_error", "max_tokens_exceeded", "string_too_long"),
        *("invalid_prompt", "payload_too_large", "unprocessable", "string_above_max_length"),
    ),
    "internal": ("server", "unmapped", "api_error", "something_new"),
}
STATUSES = {
    "credit": (402,),
    "auth": (301, 302, 303, 307, 308, 401, 403, 404, 405, 407, 410, 501),
    "rate-limit": (429,),
    "outage": (502, 503, 520, 521, 522, 523, 524, 525, 526, 529),
    "timeout": (408, 504),
    "invalid": (400, 411, 413, 414, 415, 422, 431),
    "internal": (304, 409, 418, 499, 500, 505, 999),
}
SENTENCES = {
    "credit": (
        *("Your credit balance is too low to access the API", "You have reached your specified API usage limits."),
        *("You have reached your specified workspace API usage limits.", "You have reached your API usage limits:"),
        *("Insufficient credits", "This request requires more credits, or fewer max_tokens", "out of usage credits"),
        "You've hit your monthly spend limit",
    ),
    "budget": (
        *("Budget has been exceeded! Current cost: 26.075", "ExceededBudget: End User=ishaan3 over budget."),
        *("LiteLLM User: e, exceeded budget for model=m", "No deployments available - crossed budget: 0.36 >= 1d"),
    ),
    "content": (
        *("litellm.ContentPolicyViolationError", "triggering Azure OpenAI's content management policy"),
        *("rejected by its content policy", "Output blocked by content filtering policy"),
    ),
    "image": (
        *("image input is not supported by this server", "Unsupported content part type: image_url"),
        *("Could not process image", "image exceeds 5 MB maximum", "the image dimensions exceed max allowed size"),
        *("You uploaded an unsupported image.", "Invalid image data", "litellm.ImageFetchError", "support image input"),
        *("Unable to fetch image from URL", "Unable to process input image", "Failed to load image: 404"),
        *("At most 1 image(s) may be provided", "image_url is only supported by certain models"),
    ),
    "invalid": (
        *("maximum context length is 8192 tokens", "Context size has been exceeded.", "larger than the context window"),
        *("litellm.ContextWindowExceededError", "prompt is too long: 9 > 8", "Request too large for gpt-4o"),
    ),
    "auth": (
        *("The model `m` does not exist", "model 'm' not found", "Model 'm' is not installed locally"),
        *("m is not a valid model ID", "Invalid model name passed in model=m", "Invalid API key provided"),
        *("API key not valid. Please pass a valid API key.", "response_format.type must be 'json_schema'"),
    ),
    "outage": ("API Error: Connection error.", "Unable to connect to API"),
}
#: Some answer with 500 to whatever it is, so a sentence must be enough there.
WITH_500 = [
    openai(f"a sentence: {each}", 500, {"error": {"message": each}}, kind, until=MIDNIGHT if kind == "budget" else None)
    for kind, all_of_it in SENTENCES.items()
    for each in all_of_it
]


def as_code(code: str, kind: str) -> Row:
    until = MIDNIGHT if kind == "budget" else None
    return openai(f"a code: {code}", 200, {"error": {"message": "No.", "code": code}}, kind, until=until)


USERS_WORDS = f"Failed to parse messages; messages = [{'…' * 400} My credit balance is too low"
FILTER = {"innererror": {"code": "ResponsibleAIPolicyViolation"}}

ROWS = [
    *(as_code(code, kind) for kind, codes in CODES.items() for code in codes),
    *(
        openai(f"a status: {each}", each, None, kind, says=str(each))
        for kind, all_ in STATUSES.items()
        for each in all_
    ),
    *WITH_500,
    # Where a code may stand.
    openai("a type", 200, {"error": {"type": "insufficient_quota"}}, "credit"),
    openai("a code beside the words", 400, {"code": "insufficient_quota", "error": "No."}, "credit"),
    openai("Azure's inner code", 200, {"error": FILTER}, "content"),
    openai("LiteLLM's inner code", 200, {"error": {"provider_specific_fields": FILTER}}, "content"),
    openai("Anthropic's detail", 200, {"error": {"details": {"error_code": "enforced_spend_limit_reached"}}}, "credit"),
    openrouter("an error type above", 200, {"error": {"error_type": "timeout"}}, "timeout"),
    openrouter("an availability", 200, {"error": {"availability": {"code": "temporarily_unavailable"}}}, "outage"),
    openrouter(
        "a constraint", 404, {"error": {"availability": {"constraint": {"field": "context_length"}}}}, "invalid"
    ),
    openrouter("unmapped, whatever its status", 400, {"error": {"metadata": {"error_type": "unmapped"}}}, "internal"),
    openrouter("server, whatever its status", 400, {"error": {"metadata": {"error_type": "server"}}}, "internal"),
    openrouter("a reason", 402, {"error": {"metadata": {"reason": "in_flight_budget_exhausted"}}}, "rate-limit"),
    openrouter(
        "a reason that stands above its time",
        402,
        {"error": {"metadata": {"reason": "weight_exceeds_budget"}}},
        "credit",
        headers={"Retry-After": "3"},
        seconds=3,
    ),
    openrouter("reasons", 403, {"error": {"metadata": {"reasons": ["violence"]}}}, "content"),
    openrouter("an input that was flagged", 403, {"error": {"metadata": {"flagged_input": "…"}}}, "content"),
    openrouter(
        "the header in the body",
        429,
        {"error": {"metadata": {"headers": {"Retry-After": "30"}}}},
        "rate-limit",
        seconds=30,
    ),
    # Its upstream's code is not about our money.
    openrouter(
        "an upstream's code", 429, {"error": {"metadata": {"provider_code": "insufficient_quota"}}}, "rate-limit"
    ),
    # Where a status may stand.
    openai("a status as a number", 200, {"error": {"code": 503}}, "outage"),
    openai("a status as a text", 200, {"error": {"code": "503"}}, "outage"),
    openai("a status by its name", 200, {"error": {"status": 503}}, "outage"),
    openrouter("a status by another name", 200, {"error": {"http_status": 503}}, "outage"),
    openai("a number that is no status", 200, {"error": {"code": 1113}}, "internal"),
    openai("a success that is no status", 429, {"error": {"code": 200}}, "rate-limit"),
    # What is not asked.
    openai("the words of a page about an outage", 503, "<title>The model was not found</title>", "outage"),
    openai("the words of a page about a timeout", 504, "<title>Insufficient credits</title>", "timeout"),
    openai("the words of a user, repeated", 500, {"error": {"message": USERS_WORDS}}, "internal"),
    openai(
        "the words of a user, in a field", 422, {"detail": [{"msg": "No.", "input": "insufficient credits"}]}, "invalid"
    ),
    # Where content may stand.
    openai("an old answer", 200, {"choices": [{"text": "Hei", "finish_reason": "stop"}]}, None),
    openai("an old answer by tool", 200, chat(None, function_call={"name": "answer", "arguments": "{}"}), None),
    openai("a message behind a gateway", 200, {"type": "message", "content": [{"type": "text", "text": "Hei"}]}, None),
    openai("a page", 200, "<!DOCTYPE html><title>Chat</title>", "auth", says="Chat"),
    openai("a page in small letters", 200, "\n<html><title>Chat</title>", "auth"),
    openai("nothing", 200, None, "internal", says="without a body"),
    openai(
        "nothing, as JSON", 200, "", "internal", headers={"content-type": "application/json"}, says="without a body"
    ),
    # What a seat says.
    cli("words: a token", "OAuth token has expired", "auth"),
    cli("words: an organization", "This organization has been disabled", "auth"),
    cli("words: a status", "API Error: 401 expired", "auth"),
    cli("words: no connection", "API Error: Connection error.", "outage"),
    cli("words: something new", "something new", "internal"),
]
