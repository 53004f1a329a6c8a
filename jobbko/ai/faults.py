"""The error in an answer: out of its envelope, and what its codes, its words and its status mean, in this order.

Money errors do not look like money errors, 200 may be a failure and 500 the job's own fault. So the body is read before
the status. Sources: platform.claude.com/docs/en/api/errors, help.openai.com/en/articles/6614457,
openrouter.ai/docs/api_reference/errors-and-debugging, docs.litellm.ai/docs/exception_mapping, and threads named below.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from jobbko.clients.reply import Reply

Kind = Literal["credit", "auth", "budget", "outage", "rate-limit", "invalid", "timeout", "content", "image", "internal"]

#: Characters of an error's words that are searched. Further on, some servers repeat what the user wrote.
_SEARCHED = 400

#: Codes that say it all.
_PRECISE: tuple[tuple[Kind, frozenset[str]], ...] = (
    ("credit", frozenset({
        *("billing_error", "insufficient_quota", "credit_balance_exhausted", "enforced_spend_limit_reached"),
        *("organization_spend_limit_exceeded", "project_spend_limit_exceeded", "organization_usage_limit_exceeded"),
        *("payment_required", "billing_hard_limit_reached", "billing_not_active"),
    })),
    ("budget", frozenset({"budget_exceeded"})),
    ("content", frozenset({
        *("content_filter", "content_policy_violation", "responsibleaipolicyviolation", "refusal"),
    })),
    ("image", frozenset({
        *("invalid_image", "image_too_large", "image_too_small", "unsupported_image_format", "image_not_found"),
        *("image_download_failed", "invalid_image_format", "invalid_image_url", "image_parse_error"),
    })),
    ("invalid", frozenset({
        *("context_length_exceeded", "exceed_context_size_error", "max_tokens_exceeded", "string_too_long"),
        *("string_above_max_length", "invalid_prompt", "payload_too_large", "unprocessable"),
    })),
    # The gateway's settings do not fit the model (karakeep #1047, #2893): every job would fail, none is to blame.
    ("auth", frozenset({
        *("model_not_found", "no_endpoints", "model_deprecated", "privacy_restricted", "invalid_api_key"),
        *("unsupported_country_region_territory", "unsupported_parameter", "unsupported_value"),
    })),
)  # fmt: skip
#: Codes that stand for a family: the words may know better.
_GENERAL: tuple[tuple[Kind, frozenset[str]], ...] = (
    ("auth", frozenset({
        *("authentication_error", "authentication", "permission_error", "permission_denied"),
        *("not_found_error", "not_found"),
    })),
    ("rate-limit", frozenset({"rate_limit_error", "rate_limit_exceeded"})),
    ("outage", frozenset({
        *("overloaded_error", "unavailable_error", "server_is_overloaded"),
        *("provider_overloaded", "provider_unavailable"),
    })),
    ("timeout", frozenset({"timeout_error", "timeout"})),
    ("internal", frozenset({"server", "unmapped"})),
)  # fmt: skip


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


#: What the words of an error say. Only the provider's own are asked about money: a gateway's upstream may be out of
#: credit without our being so.
_MONEY: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("credit", _pattern(
        "credit balance is too low", r"specified (?:workspace )?api usage limits", "reached your api usage limits",
        "insufficient credits", "requires more credits", r"out of (?:usage )?credits", "monthly spend limit",
    )),
    ("budget", _pattern("budget has been exceeded", "exceededbudget", "exceeded budget for", "crossed budget")),
)  # fmt: skip
_WORDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("content", _pattern(
        "contentpolicyviolation", "content management policy", r"content[ _]policy", "content filtering policy",
        "violate our usage policy",
    )),
    # A text-only model asked to look: llama.cpp #13566 (500), #12947 (500), OpenRouter (404, openclaw PR #99079).
    ("image", _pattern(
        r"(?:image|vision) input is not supported", "support image input", r"unsupported content part type: \S?image",
        "image_url is only supported", "could not process image", "image exceeds", "image dimensions exceed",
        "unsupported image", "invalid image", "imagefetcherror", r"unable to (?:fetch|process) (?:input )?image",
        r"failed to (?:process|load|download|decode) image", r"at most \d+ images?",
    )),
    # A request above the limit of a whole minute never fits; waiting for it would stop the queue (gpt-researcher #585).
    ("invalid", _pattern(
        r"context (?:length|size|window)", "contextwindowexceeded", "prompt is too long", "request too large",
    )),
    ("auth", _pattern(
        r"\bmodel\b.{0,120}?(?:not found|does not exist|not installed)", "not a valid model", "invalid model name",
        r"(?:invalid|incorrect|expired) api key", r"api key (?:not valid|required)",
        r"response_format\S* must be .?json_schema", r"not logged in|please run /login|failed to authenticate",
        r"oauth token|organization has (?:been )?disabled|issue with the selected model",
    )),
    ("outage", _pattern("unable to connect to api", "api error: connection error")),
    ("timeout", _pattern("request timed out")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """One error."""

    provider: str
    #: Its own, if it names one, else HTTP's.
    status: int | None
    #: All its machine words, in lower case.
    codes: frozenset[str]
    #: What it tells, and what its upstream told it.
    words: str
    upstream: str = ""
    #: OpenRouter's error.metadata and error.availability.
    metadata: Mapping[str, Any] = field(default_factory=dict)
    availability: Mapping[str, Any] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """Its words, and its upstream's, for `Provider returned error` helps nobody (open-webui/computer #293)."""
        name = text(self.metadata.get("provider_name"))
        upstream = f"{name}: {self.upstream}" if name and self.upstream else self.upstream
        said = "; ".join(filter(None, (self.words, upstream)))
        return said or ("an error without a word" if self.status is None else f"HTTP {self.status}")


def fault_in(reply: Reply) -> Fault | None:
    """The error that a body carries, whatever the HTTP status; None if there is none and the status is a success."""
    failed = reply.status is None or not 200 <= reply.status < 300
    error = _envelope(reply.body, failed)
    if error is None:
        return Fault(reply.provider, reply.status, frozenset(), "") if failed else None
    metadata, availability = mapping(error.get("metadata")), mapping(error.get("availability"))
    inner = mapping(error.get("innererror")) or mapping(
        mapping(error.get("provider_specific_fields")).get("innererror")
    )
    named = (
        *(error.get(name) for name in ("type", "code", "error_type", "status")),
        *(metadata.get(name) for name in ("error_type", "reason", "limit_source")),
        *(availability.get("code"), mapping(error.get("details")).get("error_code"), inner.get("code")),
    )
    own = next(filter(None, map(_status, (error.get("code"), error.get("http_status"), error.get("status")))), None)
    return Fault(
        reply.provider,
        own or (reply.status if failed else None),
        frozenset(each.lower() for each in named if isinstance(each, str)),
        _said(error),
        _upstream(metadata.get("raw")),
        metadata,
        availability,
    )


def kind_of(fault: Fault) -> Kind:
    """What it is, by codes, then words, then status."""
    by_status = _of_status(fault.status)
    found = _of_codes(_PRECISE, fault.codes)
    if not found and by_status not in ("outage", "timeout"):  # there, the words are those of a page about it
        found = _of_words(_MONEY, fault.words) or _of_words(_WORDS, fault.words) or _of_words(_WORDS, fault.upstream)
    return found or _of_codes(_GENERAL, fault.codes) or by_status


def _of_codes(table: tuple[tuple[Kind, frozenset[str]], ...], codes: frozenset[str]) -> Kind | None:
    return next((kind for kind, known in table if known & codes), None)


def _of_words(table: tuple[tuple[Kind, re.Pattern[str]], ...], words: str) -> Kind | None:
    return next((kind for kind, known in table if known.search(words[:_SEARCHED])), None)


def _of_status(status: int | None) -> Kind:
    match status:
        case 402:
            return "credit"
        # A redirect, a wrong method and what is not implemented come from a wrong address: as good as no service.
        case 401 | 403 | 404 | 405 | 407 | 410 | 501 | 301 | 302 | 303 | 307 | 308:
            return "auth"
        case 429:
            return "rate-limit"
        case (
            502 | 503 | 520 | 521 | 522 | 523 | 524 | 525 | 526 | 529
        ):  # 52x: Cloudflare cannot reach what is behind it
            return "outage"
        case 408 | 504:
            return "timeout"
        case 400 | 411 | 413 | 414 | 415 | 422 | 431:
            return "invalid"
    return "internal"


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else None


def _envelope(body: Any, failed: bool) -> dict[str, Any] | None:
    """OpenAI's and everybody's {"error": {…}}, in whichever place; Ollama's and whisper.cpp's {"error": "…"}; vLLM's
    {"object": "error"}; FastAPI's {"detail": …}; Google's [{"error": {…}}]; of what failed, any text."""
    if isinstance(body, list):
        body = first(body)
    if isinstance(body, str) and failed and body.strip():
        return {"message": body}
    if not isinstance(body, dict):
        return None
    error = body.get("error") or mapping(first(body.get("choices"))).get("error")
    if isinstance(error, dict):
        return error
    if error:
        return {**body, "message": text(error)}
    return body if failed or "error" in (body.get("type"), body.get("object")) else None


def _said(error: Mapping[str, Any]) -> str:
    """FastAPI tells of each field that is wrong, and repeats what was sent, which is left out."""
    if isinstance(error.get("detail"), list):
        faults = [mapping(each) for each in error["detail"][:20]]
        return "; ".join(f"{_place(each.get('loc'))}: {text(each.get('msg'))}" for each in faults)
    return next(filter(None, (text(error.get(name)) for name in ("message", "detail", "status"))), "")


def _place(loc: Any) -> str:
    return ".".join(filter(None, map(text, loc))) if isinstance(loc, list) else ""


def _status(value: Any) -> int | None:
    """LiteLLM sends it as a text."""
    if isinstance(value, str) and value.isdecimal() and len(value) == 3:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599 else None


def _upstream(raw: Any) -> str:
    """error.metadata.raw is the upstream's body, as a text that may be JSON again (OmniRoute #3044)."""
    try:
        inner = json.loads(raw) if isinstance(raw, str) and raw.lstrip()[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        inner = None
    return (_said(_envelope(inner, True) or {}) if inner else "") or text(raw)
