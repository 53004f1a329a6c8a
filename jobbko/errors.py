"""Why a job did not finish, and therefore what happens to it next.

JobError
  Missing      the subject is gone: the job is done, quietly
  Throttled    a service said when to come back: free of charge, at that time
  GateClosed   something outside is not available: free of charge, when it is again; closes its gate
  GateFoundClosed  it was known before the request: free of charge, when the gate opens; closes nothing
  LeaseLost    another worker has the job now: stop, write nothing
  Charged      the job failed in a way that was foreseen: counts as an attempt, retried with backoff
  Permanent    it can never work: dead letter at once, a person must look

Anything else that is raised is a bug: charged as `internal`, with its traceback.
The class is the whole verdict. Nobody asks which service raised it.

UserError stands apart: a person's mistake at the command line or in a setting, told in one sentence with its remedy;
NothingMatched is one.
"""

from __future__ import annotations

from datetime import datetime

#: Why a gate may be closed.
REASONS = ("credit", "auth", "budget", "outage", "manual")


class JobError(Exception):
    """A failure that the author of the job foresaw."""

    #: What the attempt is filed under in `job_attempt.class`.
    kind = "internal"


class Missing(JobError):
    """What the job is about no longer exists."""

    kind = "missing"


class Throttled(JobError):
    """A service cannot be reached, is overloaded or asks for patience. Closes its gate as an outage.

    retry_after: seconds until it may be asked again; None if it did not say, then 60 s, doubling up to an hour.
    """

    kind = "throttled"

    def __init__(self, service: str, retry_after: float | None = None, message: str = "") -> None:
        super().__init__(message or f"{service} asked to be left alone for a while")
        self.service = service
        self.retry_after = retry_after


class GateClosed(JobError):
    """A named outside dependency is not available now; reason is credit, auth, budget, outage or manual.

    Raises ValueError for another reason.
    """

    kind = "gate"

    def __init__(self, gate: str, reason: str, resume_at: datetime | None = None, message: str = "") -> None:
        if reason not in REASONS:
            raise ValueError(f"{gate} cannot be closed for the reason {reason!r}, only for {', '.join(REASONS)}")
        super().__init__(message or f"{gate} is closed: {reason}")
        self.gate = gate
        self.reason = reason
        self.resume_at = resume_at


class GateFoundClosed(GateClosed):
    """The gate was closed before anybody was asked. That is no news of what lies behind it: the job waits, no more."""


class LeaseLost(JobError):
    """This worker no longer holds the job, so it may not write anything for it."""

    kind = "lease_lost"


class Charged(JobError):
    """A foreseen failure that counts; kind is one of invalid, timeout, content, image, internal, crashed.

    service: who answered with a plain 500. It is often the job's own fault, but three in a row from three different
    jobs are taken for an outage of the service, and those three get their attempt back.
    """

    def __init__(self, kind: str, message: str, service: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.service = service


class Permanent(JobError):
    """The same job can never work; it goes to the dead letters at once."""

    kind = "permanent"


class UserError(Exception):
    """A mistake that a person can mend: the message names the input and the remedy, and no traceback is shown."""


class NothingMatched(UserError):
    """What a person named is not there, or there is nothing to do for it. Exit code 3, so that a script can tell."""
