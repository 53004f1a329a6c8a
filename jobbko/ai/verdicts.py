"""What an answer of a model provider means for the job that asked, and for all the others that want to ask."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from datetime import datetime

import httpx

from jobbko.ai import faults, lacking, verdicts_cli, verdicts_openrouter, waits, wording
from jobbko.ai.faults import Kind
from jobbko.ai.wording import without_secrets
from jobbko.clients.reply import Reply
from jobbko.errors import Charged, GateClosed, JobError, Throttled

__all__ = ["Kind", "Verdict", "error_for", "judge", "without_secrets"]

#: Seconds to wait for a provider that asks for patience without saying how much.
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Verdict:
    kind: Kind
    #: The provider's own words, shortened, without control characters and keys.
    message: str
    #: Seconds between 1 and 3600; None if it did not say.
    retry_after: float | None
    #: Of a budget: when there is a new one.
    resume_at: datetime | None
    #: A failure that three different jobs in a row turn into an outage.
    plain_500: bool = False


def judge(reply: Reply, *, now: datetime | None = None) -> Verdict | None:
    """None: an answer that can be used. An answer that was cut off may be, so that is left to whoever asked.

    What was raised comes first, then an error in the body, then the status, then what the answer lacks.
    """
    now = waits.utc(now)
    if reply.error is not None:
        name = "" if isinstance(reply.error, JobError) else f"{type(reply.error).__name__}: "
        return _verdict(_raised(reply.error), f"{name}{reply.error}", now)
    if reply.provider == "cli":
        found = verdicts_cli.finding(reply)
        return found and _verdict(*found, now, wait=waits.limit_reset(found[1], now))
    fault = faults.fault_in(reply)
    if fault is None:
        found = lacking.lacking(reply)
        return found and _verdict(*found, now)
    wait = waits.retry_after(reply.headers, verdicts_openrouter.waiting_times(fault), now)
    kind = verdicts_openrouter.kind_of(fault, wait is not None) or faults.kind_of(fault)
    if kind == "rate-limit" and wait is None:
        wait = waits.until(verdicts_openrouter.limit_reset(fault), now)
    return _verdict(kind, fault.told, now, wait=wait, resets_at=waits.resets_at(fault.metadata.get("resets_at"), now))


def error_for(verdict: Verdict, gate: str) -> JobError:
    """What the job raises, so that its consequence is the verdict's."""
    match verdict.kind:
        case "credit" | "auth":
            return GateClosed(gate, verdict.kind, message=verdict.message)
        case "budget":
            return GateClosed(gate, "budget", verdict.resume_at, message=verdict.message)
        case "rate-limit":
            # Said, so that it does not count in the doubling (see gate_close).
            return Throttled(gate, PATIENCE if verdict.retry_after is None else verdict.retry_after, verdict.message)
        case "outage":
            # The longer of what it said and the doubling, which never is shorter than a minute, so that a server that
            # says "1 s" for hours is not asked every second.
            longer = verdict.retry_after if (verdict.retry_after or 0) > PATIENCE else None
            return Throttled(gate, longer, verdict.message)
    return Charged(verdict.kind, verdict.message, service=gate if verdict.plain_500 else None)


#: What is raised before anybody has the request (https://www.python-httpx.org/exceptions/).
NEVER_SENT = (
    *(httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol),
    *(httpx.LocalProtocolError, httpx.InvalidURL, FileNotFoundError, PermissionError),
)


def _raised(error: Exception) -> Kind:
    """By whether the request had been sent (https://www.python-httpx.org/exceptions/), and is paid for perhaps."""
    match error:
        case Charged(kind="invalid" | "timeout" | "content" | "image" as kind):
            return kind  # the client itself has found it, in an answer without an end for one
        case httpx.ReadTimeout() | httpx.WriteTimeout() | subprocess.TimeoutExpired():
            return "timeout"
        # An address that is none, a key that fits into no header, `claude` that is not installed: a setting.
        case httpx.UnsupportedProtocol() | httpx.LocalProtocolError() | httpx.InvalidURL() | httpx.TooManyRedirects():
            return "auth"
        case FileNotFoundError() | PermissionError():
            return "auth"
        # No connection, or one that broke: Ollama dies in the middle of an answer (karakeep #1310).
        case httpx.TransportError() | ConnectionError():
            return "outage"
    return "internal"


def _verdict(
    kind: Kind, said: str, now: datetime, *, wait: float | None = None, resets_at: datetime | None = None
) -> Verdict:
    resume_at = (resets_at or waits.next_midnight(now)) if kind == "budget" else None
    return Verdict(kind, wording.told(said), wait, resume_at, plain_500=kind == "internal")
