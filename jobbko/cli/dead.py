"""`jobbko dead`: what failed for good, and why."""

from __future__ import annotations

import click
from rich.markup import escape
from rich.table import Table

from jobbko.cli._output import ago, as_json, console, print_json
from jobbko.store import jobs


@click.command()
@click.option("--type", "job_type", help="Only jobs of this type.")
@as_json
def command(job_type: str | None, as_json: bool) -> None:
    """List dead letters by job type and error message, the most frequent first. To put them back: jobbko requeue."""
    listed = jobs.dead(job_type)
    if as_json:
        print_json({"dead": listed})
        return
    if not listed:
        console.print("There are no dead letters.")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("jobs", "type", "first", "last", "latest", "error"):
        table.add_column(heading, justify="right" if heading == "jobs" else "left", no_wrap=heading != "error")
    for each in listed:
        error = escape(each.message.strip().splitlines()[0][:200] if each.message.strip() else "")
        table.add_row(str(each.jobs), each.job_type, ago(each.first_at), ago(each.last_at), each.latest_id[:8], error)
    console.print(table)
