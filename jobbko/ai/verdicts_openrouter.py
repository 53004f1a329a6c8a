"""What only OpenRouter says: where a limit comes from, why a model cannot be had, what a guardrail has found.

https://openrouter.ai/docs/api_reference/errors-and-debugging and https://openrouter.ai/docs/api_reference/limits
"""

from __future__ import annotations

from typing import Any

from jobbko.ai.faults import Fault, Kind, mapping, text

_GUARDS = ("patterns", "reasons", "flagged_input")


def kind_of(fault: Fault, waits: bool) -> Kind | None:
    """waits: it says after how many seconds the request may come again. None: judge it as any provider's."""
    if "weight_exceeds_budget" in fault.codes:
        return "credit"  # this request alone is above what there is
    if fault.codes & {"openrouter_in_flight_budget", "in_flight_budget_exhausted"}:
        return "rate-limit"  # other requests have to settle first
    if fault.provider == "openrouter" and fault.status == 402 and waits:
        return "rate-limit"  # only that one comes with a time
    if fault.codes & {"openrouter_guardrail_budget", "openrouter_workspace_budget"}:
        return "budget"
    if "openrouter_key_limit" in fault.codes and (fault.status == 403 or fault.metadata.get("resets_at")):
        return "budget"
    if fault.provider == "openrouter" and "token_limit_exceeded" in fault.codes:
        return "credit"  # "a token budget enforced by OpenRouter, for example a credit-based cap"
    if fault.status == 403 and any(fault.metadata.get(name) for name in _GUARDS):
        return "content"
    return _unavailable(fault) if fault.availability else None


def waiting_times(fault: Fault) -> list[Any]:
    """Seconds, as the error itself names them; browsers do not see the header."""
    headers = mapping(fault.metadata.get("headers"))
    return [
        fault.availability.get("retry_after"),
        fault.metadata.get("retry_after_seconds"),
        headers.get("Retry-After"),
    ]


def limit_reset(fault: Fault) -> Any:
    """Milliseconds since 1970, when the day's free requests are counted anew."""
    return mapping(fault.metadata.get("headers")).get("X-RateLimit-Reset")


def _unavailable(fault: Fault) -> Kind | None:
    """ "Treat an unrecognized code defensively and fall back to `retryable`", and switch on it for the others too."""
    match fault.availability.get("code"):
        case "capacity_exhausted":
            return "rate-limit"
        case "temporarily_unavailable":
            return "outage"
    if fault.availability.get("retryable") is True:
        return "outage"
    # The other constraints are settings; how long a prompt is, is this job's own affair.
    filters = fault.availability.get("excluded_by")
    length = isinstance(filters, list) and "context_length" in filters
    if length or text(mapping(fault.availability.get("constraint")).get("field")) == "context_length":
        return "invalid"
    return "auth"
