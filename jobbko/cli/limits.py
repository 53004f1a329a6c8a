"""`jobbko limits`: how many jobs of a kind may run at once, over all workers."""

from __future__ import annotations

import click
from rich.table import Table

from jobbko.cli._output import as_json, console, print_json, say
from jobbko.errors import NothingMatched
from jobbko.store import jobs


@click.command()
@click.argument("name", required=False)
@click.argument("most", required=False, type=click.IntRange(0, 1_000_000), metavar="MAX")
@click.option("--reset", is_flag=True, help="As the code says again, from the next start of a worker on.")
@as_json
def command(name: str | None, most: int | None, reset: bool, as_json: bool) -> None:
    """List the limits, or let at most MAX jobs of the limit NAME run at once; 0 lets none start. Running ones go on."""
    if name is None:
        _list(as_json)
        return
    if (most is None) != reset:
        raise click.UsageError("Give NAME and MAX, or NAME and --reset.")
    if not jobs.set_limit(name, most):
        known = ", ".join(limit.name for limit in jobs.limits())
        raise NothingMatched(f"There is no limit {name}. Limits: {known or 'none'}.")
    if as_json:
        print_json({"limit": name, "max_running": most})
    else:
        say(f"{name}: as the code says." if most is None else f"{name}: at most {most} at once, over all workers.")


def _list(as_json: bool) -> None:
    listed = jobs.limits()
    if as_json:
        print_json({"limits": listed})
        return
    if not listed:
        console.print("No job has a limit (option max_running).")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("limit", "most", "running", "said by", "job types"):
        table.add_column(heading, justify="right" if heading in ("most", "running") else "left")
    for limit in listed:
        said_by = "hand" if limit.by_hand else "code"
        table.add_row(limit.name, str(limit.max_running), str(limit.running), said_by, ", ".join(limit.job_types))
    console.print(table)
