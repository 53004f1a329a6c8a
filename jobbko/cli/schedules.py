"""`jobbko schedules`: what is sent at set times, when it was sent last, and when it comes next."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

import click
from rich.table import Table

from jobbko.cli._output import ago, as_json, console, print_json, say, status
from jobbko.errors import NothingMatched
from jobbko.store import schedules

if TYPE_CHECKING:
    from jobbko.store.schedules import Known


@click.command()
@click.argument("name", required=False)
@click.option("--next", "many", type=click.IntRange(1, 1000), help="With NAME: its next times.")
@click.option("--enable", metavar="NAME", help="Send it again; what came up meanwhile is not made up for.")
@click.option("--disable", metavar="NAME", help="Do not send it until it is enabled.")
@click.option("--run", metavar="NAME", help="Send its job now, once.")
@as_json
def command(
    name: str | None, many: int | None, enable: str | None, disable: str | None, run: str | None, as_json: bool
) -> None:
    """List schedules, or look at NAME. `periodiq actors` (or `jobbko up`) is what sends them."""
    if sum(each is not None for each in (name, enable, disable, run)) > 1:
        raise click.UsageError("One thing at a time: NAME, --enable, --disable or --run.")
    if many is not None and name is None:
        raise click.UsageError("--next goes with NAME.")
    if enable is not None:
        _switch(enable, True, as_json)
    elif disable is not None:
        _switch(disable, False, as_json)
    elif run is not None:
        _run(run, as_json)
    elif name is not None:
        _times(name, many or 5, as_json)
    else:
        _list(as_json)


def _cron(name: str) -> tuple[str, str]:
    """Its cron spec and time zone; NothingMatched if there is no such schedule."""
    from broker import broker

    declared = _declared()
    if name not in declared:
        raise NothingMatched(f"There is no schedule {name}. Schedules: {', '.join(sorted(declared)) or 'none'}.")
    cron = broker.schedules.known[name].cron
    return cron.spec, cron.timezone


def _declared() -> set[str]:
    import actors  # noqa: F401
    from broker import broker

    return set(broker.schedules.known)


def _next(name: str, many: int) -> list[datetime]:
    from broker import broker

    return list(islice(broker.schedules.known[name].cron.after(datetime.now(UTC)), many))


def _switch(name: str, enabled: bool, as_json: bool) -> None:
    news = schedules.set_enabled(name, *_cron(name), enabled)
    if as_json:
        print_json({"schedule": name, "enabled": enabled})
    else:
        say(f"{name} {'is' if news else 'was already'} {'enabled' if enabled else 'disabled'}.")


def _run(name: str, as_json: bool) -> None:
    _cron(name)
    from broker import broker
    from jobbko.cli.migrate import publish

    publish()
    job_id = broker.get_actor(name).send().message_id
    if as_json:
        print_json({"schedule": name, "job": job_id})
    else:
        say(f"{name} {job_id[:8]} waits in the queue.")


def _times(name: str, many: int, as_json: bool) -> None:
    spec, timezone = _cron(name)
    times = _next(name, many)
    if as_json:
        print_json({"schedule": name, "cron": spec, "timezone": timezone, "next": [at.isoformat() for at in times]})
        return
    say(f"[bold]{name}[/] {spec} ({timezone})")
    zone = zoneinfo.ZoneInfo(timezone)
    for at in times:
        there = "" if timezone == "UTC" else f"   {at.astimezone(zone):%a %Y-%m-%d %H:%M %Z}"
        say(f"  {at:%a %Y-%m-%d %H:%M} UTC  {ago(at)}{there}")


def _list(as_json: bool) -> None:
    known, declared = schedules.known(), _declared()
    if as_json:
        print_json(
            {"schedules": [_as_json(name, known.get(name), name in declared) for name in sorted(declared | {*known})]}
        )
        return
    if not declared | {*known}:
        console.print("No job is periodic (option periodic=cron(…)).")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("schedule", "cron", "zone", "state", "last tick", "its job", "next"):
        table.add_column(heading)
    for name in sorted(declared | {*known}):
        seen = known.get(name)
        spec, timezone = _cron(name) if name in declared else (known[name].cron, known[name].timezone)
        table.add_row(
            name,
            spec,
            timezone,
            _state(seen, name in declared),
            f"{ago(seen.last_tick_at)} ago" if seen and seen.last_tick_at else "–",
            status(seen.last_status) if seen and seen.last_status else "",
            ago(_next(name, 1)[0]) if name in declared and (seen is None or seen.enabled) else "–",
        )
    console.print(table)


def _state(seen: Known | None, declared: bool) -> str:
    if not declared:
        return "[dim]not in the code[/]"
    if seen is None:
        return "[cyan]never seen by a scheduler[/]"
    return "[green]enabled[/]" if seen.enabled else "[yellow]disabled[/]"


def _as_json(name: str, seen: Known | None, declared: bool) -> dict[str, object]:
    spec, timezone = _cron(name) if declared else (seen and seen.cron, seen and seen.timezone)
    return {
        "name": name,
        "cron": spec,
        "timezone": timezone,
        "declared": declared,
        "enabled": seen is None or seen.enabled,
        "last_tick_at": seen and seen.last_tick_at,
        "last_job_id": seen and seen.last_job_id,
        "last_status": seen and seen.last_status,
        "next": [at.isoformat() for at in _next(name, 3)] if declared else [],
    }
