"""What a worker clears away now and then: jobs that have been kept long enough, and the rows that tell of them."""

from __future__ import annotations

import time

from jobbko import settings
from jobbko.store import ledger, retention

#: Seconds between two rounds.
EVERY = 60
#: Seconds after which no answer of a model is waited for any more.
LONGEST_CALL = 3600


class Housekeeping:
    """One for each worker process; any number of them may clear away at once."""

    def __init__(self) -> None:
        self._next = time.monotonic() + EVERY

    def tidy(self) -> int:
        """Clear away if it is time; how many jobs went. Never for longer than a tenth of a lease, since whoever calls
        has leases to renew; what is left then goes with the next call."""
        now = time.monotonic()
        if now < self._next:
            return 0
        self._next = now + EVERY
        ages = retention.by_settings()
        retention.prune(ages.completed)
        ledger.lose(longest=LONGEST_CALL, lease=settings.LEASE)
        if settings.KEEP_MODEL_BODIES:
            ledger.forget_bodies(settings.KEEP_MODEL_BODIES * 86400)
        total = gone = retention.purge(ages)
        while gone:
            if time.monotonic() > now + settings.LEASE / 10:
                self._next = now
                break
            gone = retention.purge(ages)
            total += gone
        return total
