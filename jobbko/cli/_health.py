"""What `jobbko doctor` finds in the queue itself, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from jobbko import settings
from jobbko.cli._finding import Finding
from jobbko.cli._output import counted
from jobbko.store import gates, health, jobs, schedules

#: Seconds that a transaction may be open before the queue suffers from what it keeps.
OLD = 600
#: Dead rows that are normal between two vacuums, absolutely and for each live row.
DEAD_ROWS, DEAD_SHARE = 50_000, 10
#: Seconds after the end of a lease; any worker alive sweeps three times in each lease.
STUCK = 60
#: Seconds after its time at which a tick that is not sent is overdue.
OVERDUE = 120


def findings() -> Iterator[Finding]:
    """Of a database that can be reached and is migrated."""
    checks = (_workers, _unattended, _gates, _schedules, _fan_ins, _leases, _snapshots, _slots, _dead_rows)
    for check in checks:
        yield from check()


def _workers() -> Iterator[Finding]:
    if alive := jobs.live_workers(settings.LEASE):
        yield Finding("workers", "ok", f"{alive} alive")
    else:
        waiting = sum(count.jobs for count in jobs.counts() if count.status in ("pending", "retry"))
        state = "fault" if waiting else "note"
        yield Finding("workers", state, f"none alive; {counted(waiting, 'job')} waiting", "jobbko worker, or jobbko up")


def _unattended() -> Iterator[Finding]:
    if not jobs.live_workers(settings.LEASE):
        return  # said already
    for orphan in health.orphans(settings.LEASE):
        said = f"{counted(orphan.jobs, 'job')} of type {orphan.job_type} due, and no live worker runs that type"
        remedy = f"jobbko worker --types {orphan.job_type}; if the job was renamed or removed, jobbko cancel ID"
        yield Finding("work", "fault", said, remedy)


def _gates() -> Iterator[Finding]:
    for gate in gates.listing():
        if gate.resume_at is not None:
            continue  # opens, or tries, by itself
        because = f" – {gate.note}" if gate.note else ""
        said = f"{gate.gate} is closed ({gate.reason}) until somebody opens it; {counted(gate.waiting, 'job')} waiting"
        mend = "" if gate.reason == "manual" else "Mend the cause, then: "
        state = "note" if gate.reason == "manual" else "fault"
        yield Finding("gate", state, said + because, f"{mend}jobbko resume {gate.gate}")


def _schedules() -> Iterator[Finding]:
    import actors  # noqa: F401  every job declares itself
    from broker import broker

    known = schedules.known()
    for name, schedule in sorted(broker.schedules.known.items()):
        if name not in known:
            said = f"{name}: no scheduler has seen it yet"
            yield Finding("schedule", "note", said, "periodiq actors, or jobbko up")
        elif known[name].enabled:
            tick = schedule.cron.latest(datetime.now(UTC) - timedelta(seconds=OVERDUE))
            if tick is not None and schedules.unsent(name, tick):
                said = f"{name} of {tick:%Y-%m-%d %H:%M} UTC has not been sent; is the scheduler running?"
                yield Finding("schedule", "fault", said, "periodiq actors, or jobbko up; it makes up for it")


def _fan_ins() -> Iterator[Finding]:
    for each in health.fan_ins():
        said = f"{each.job_type}, which was to follow the group {each.id}, could not be sent: {each.error}"
        yield Finding("fan-in", "fault", said, f"Mend the cause, then send it by hand: jobbko send {each.job_type} …")


def _leases() -> Iterator[Finding]:
    if (stuck := health.stuck(STUCK)).jobs:
        said = (
            f"{counted(stuck.jobs, 'job')} running under leases that are over, the oldest for {_span(stuck.seconds)}; "
            "no worker gives them back"
        )
        remedy = (
            "Start a worker: any one does it within its lease. If some are running, their log says why they do not."
        )
        yield Finding("leases", "fault", said, remedy)


def _snapshots() -> Iterator[Finding]:
    """Old snapshots keep dead rows in the table, and claims get slower and slower."""
    for each in health.snapshots(OLD):
        who = f"process {each.pid}" + (f" ({each.application})" if each.application else "")
        said = f"{who}: {each.state}, its transaction open for {_span(each.seconds)}; dead rows of the queue stay"
        yield Finding("snapshot", "fault", said, f"End it there, or: select pg_terminate_backend({each.pid})")
    for prepared in health.prepared(OLD):
        said = f"transaction {prepared.name!r} was prepared {_span(prepared.seconds)} ago and never ended"
        yield Finding("snapshot", "fault", said, f"rollback prepared '{prepared.name}' (or commit prepared)")


def _slots() -> Iterator[Finding]:
    for slot in health.slots():
        said = f"the {slot.kind} replication slot {slot.name!r} is read by nobody and keeps rows or log files"
        remedy = f"Start its reader, or: select pg_drop_replication_slot('{slot.name}')"
        yield Finding("slot", "fault", said, remedy)


def _dead_rows() -> Iterator[Finding]:
    rows = health.rows()
    if rows.dead > DEAD_ROWS and rows.dead > DEAD_SHARE * rows.live:
        vacuumed = "never" if rows.last_autovacuum is None else f"last at {rows.last_autovacuum:%Y-%m-%d %H:%M}"
        said = f"job_queue has {rows.dead} dead rows and {rows.live} live ones; vacuumed by itself {vacuumed}"
        yield Finding("table", "fault", said, "See to old snapshots and to autovacuum, then: vacuum job_queue")


def _span(seconds: float | None) -> str:
    seconds = seconds or 0
    return next((f"{seconds / size:.0f}{unit}" for unit, size in _SIZES if seconds >= size), f"{seconds:.0f}s")


_SIZES = (("d", 86400), ("h", 3600), ("m", 60))
