"""When a schedule's times are: five cron fields in a time zone, and the two questions that periodiq asks of them.

periodic=cron("30 4 * * sun", timezone="Europe/Oslo")
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo

from cronsim import CronSim, CronSimError

NAMED = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
#: More than any clock is put back by. In the hour that comes twice, what is earlier on the wall may be later.
TURNED_BACK = timedelta(hours=3)


class Cron:
    """minute, hour, day of month, month, day of week (0 and 7 are Sunday), or a name like @weekly.

    When a clock is put forward, a time of day that is left out comes at the end of the gap; when it is put back, a time
    of day comes once (but `*/10 * * * *` goes on evenly). Raises ValueError for what is not a cron spec, for one that
    never comes, and for an unknown time zone.
    """

    def __init__(self, spec: str, timezone: str = "UTC") -> None:
        self.spec = spec.strip()
        self.timezone = timezone
        self._fields = NAMED.get(self.spec.lower(), self.spec)
        self._zone = _zone(timezone)
        if len(self._fields.split()) != 5:
            raise ValueError(
                f"cron {spec!r}: five fields are needed (minute, hour, day of month, month, day of week), or one of "
                f"{', '.join(NAMED)}"
            )
        try:
            next(CronSim(self._fields, datetime(2000, 1, 1, tzinfo=UTC)))
        except CronSimError as error:
            raise ValueError(f"cron {spec!r}: {str(error).lower()}") from None
        except StopIteration:
            raise ValueError(f"cron {spec!r}: such a day never comes") from None

    def after(self, at: datetime) -> Iterator[datetime]:
        """Its times later than `at`, in UTC, one after the other."""
        for tick in CronSim(self._fields, self._local(at)):
            if (found := tick.astimezone(UTC)) > at:
                yield found

    def latest(self, at: datetime) -> datetime | None:
        """Its last time that is not later than `at`, in UTC; None if it has not come for fifty years."""
        for tick in CronSim(self._fields, self._local(at) + TURNED_BACK, reverse=True):
            if (found := tick.astimezone(UTC)) <= at:
                return found
        return None

    def validate(self, now: datetime) -> bool:
        """Whether this minute is one of its times. (A Schedule, which has a name, knows what has been sent.)"""
        return self.latest(now) == now.astimezone(UTC).replace(second=0, microsecond=0)

    def next_valid_date(self, now: datetime) -> datetime:
        """Its next time, of the same class and in the same time zone as `now`: periodiq's are pendulum's."""
        return type(now).fromtimestamp(next(self.after(now)).timestamp(), now.tzinfo)

    def _local(self, at: datetime) -> datetime:
        return datetime.fromtimestamp(at.timestamp(), self._zone)

    def __str__(self) -> str:
        return self.spec if self.timezone == "UTC" else f"{self.spec} {self.timezone}"

    def __repr__(self) -> str:
        return f"cron({self.spec!r}, timezone={self.timezone!r})"


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"unknown time zone {name!r}; they are called like Europe/Oslo or UTC") from None
