"""`jobbko gates`: what is paused, why, and until when."""

from __future__ import annotations

import click
from rich.markup import escape
from rich.table import Table

from jobbko.cli._output import ago, as_json, console, print_json
from jobbko.store import gates


@click.command()
@click.option("--all", "everything", is_flag=True, help="Also those that were closed once.")
@as_json
def command(everything: bool, as_json: bool) -> None:
    """List closed gates: what jobs need and cannot have now. Their jobs wait, and are not charged for it."""
    listed = gates.listing(everything)
    if as_json:
        print_json({"gates": listed})
        return
    if not listed:
        console.print("Every gate is open.")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("gate", "state", "reason", "since", "opens", "waiting", "note"):
        table.add_column(heading, justify="right" if heading == "waiting" else "left")
    for gate in listed:
        table.add_row(
            escape(gate.gate),
            "[cyan]trying[/]" if gate.probing else "[yellow]closed[/]" if gate.closed else "[green]open[/]",
            gate.reason if gate.closed else "",
            ago(gate.since) if gate.closed else "",
            (ago(gate.resume_at) if gate.resume_at else "by hand") if gate.closed else "",
            str(gate.waiting),
            escape(" – ".join(filter(None, (gate.note, gate.owner)))) if gate.closed else "",
        )
    console.print(table)
