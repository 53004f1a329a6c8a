"""`jobbko dead`: what failed for good, and why; put back when the reason is gone."""

from __future__ import annotations

import click
from rich.markup import escape
from rich.table import Table

from jobbko.cli._output import ago, as_json, console, counted, print_json, say
from jobbko.store import jobs


@click.command()
@click.option("--type", "job_type", help="Only jobs of this type.")
@click.option("--requeue", is_flag=True, help="Put them back, as if never tried; their flows go on.")
@click.option("--match", metavar="TEXT", help="With --requeue: only those whose error message contains TEXT.")
@click.option("--dry-run", is_flag=True, help="With --requeue: only say how many.")
@as_json
def command(job_type: str | None, requeue: bool, match: str | None, dry_run: bool, as_json: bool) -> None:
    """List dead letters by job type and error message, the most frequent first."""
    if requeue:
        _requeue(job_type, match, dry_run, as_json)
    elif match is not None or dry_run:
        raise click.UsageError("--match and --dry-run go with --requeue.")
    else:
        _list(job_type, as_json)


def _requeue(job_type: str | None, match: str | None, dry_run: bool, as_json: bool) -> None:
    ids = jobs.dead_ids(job_type, match)
    back = 0 if dry_run else jobs.retry_dead(ids)
    if as_json:
        print_json({"dead": len(ids), "requeued": back})
    elif dry_run:
        say(f"{counted(len(ids), 'dead letter')} would be put back.")
    else:
        left = (
            f"; {len(ids) - back} stay, since an equal job waits or somebody else has them" if back < len(ids) else ""
        )
        say(f"{counted(back, 'dead letter')} put back{left}.")


def _list(job_type: str | None, as_json: bool) -> None:
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
