"""`jobbko resume`: open a gate, whatever closed it."""

from __future__ import annotations

import click
from rich.markup import escape

from jobbko.cli._gates import gate_named, somebody, target
from jobbko.cli._output import as_json, print_json, say
from jobbko.errors import NothingMatched
from jobbko.store import gates


@click.command()
@target
@as_json
def command(gate: str | None, job_type: str | None, collection: str | None, everything: bool, as_json: bool) -> None:
    """Open GATE, a job type, a collection, or everything that was paused with --all. Other pauses stay."""
    name = gate_named(gate, job_type, collection, everything)
    if not gates.resume(name, somebody()):
        raise NothingMatched(f"{name} is not paused. `jobbko gates` shows what is.")
    if as_json:
        print_json({"resumed": name})
    else:
        say(escape(f"{name} is open; its jobs go on."))
