"""`jobbko pause`: jobs wait until somebody says otherwise, or for a while."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click
from rich.markup import escape

from jobbko.cli._gates import gate_named, somebody, target
from jobbko.cli._output import as_json, print_json, say
from jobbko.cli._processes import Duration
from jobbko.store import gates


@click.command()
@target
@click.option("--for", "seconds", type=Duration(), metavar="DURATION", help="Resume by itself after 30m, 1h, 2d …")
@click.option("--note", help="Why; shown wherever the pause is.")
@as_json
def command(
    gate: str | None,
    job_type: str | None,
    collection: str | None,
    everything: bool,
    seconds: float | None,
    note: str | None,
    as_json: bool,
) -> None:
    """Pause GATE, a job type, a collection, or everything. What runs goes on; what waits is not charged."""
    name = gate_named(gate, job_type, collection, everything)
    until = None if seconds is None else datetime.now(UTC) + timedelta(seconds=seconds)
    gates.pause(name, until, note, somebody())
    if as_json:
        print_json({"paused": name, "until": until})
    else:
        end = "until `jobbko resume` says otherwise" if until is None else f"until {until:%Y-%m-%d %H:%M} UTC"
        say(escape(f"{name} is paused {end}."))
