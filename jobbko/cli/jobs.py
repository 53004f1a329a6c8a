"""`jobbko jobs`: what is in the queue."""

from __future__ import annotations

import json

import click
from rich.markup import escape
from rich.table import Table

from jobbko.cli._output import ago, as_json, console, print_json, status
from jobbko.store import jobs


@click.command()
@click.option("--status", "wanted", type=click.Choice(jobs.STATUSES), help="Only jobs of this status.")
@click.option("--type", "job_type", help="Only jobs of this type.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many, newest first.")
@as_json
def command(wanted: str | None, job_type: str | None, limit: int, as_json: bool) -> None:
    """List jobs, the newest first, and count them all by type and status."""
    listed, counts = jobs.listing(wanted, job_type, limit), jobs.counts()
    if as_json:
        print_json({"jobs": listed, "counts": counts})
        return
    if not counts:
        console.print("The queue is empty. `jobbko scan DIR` measures a music folder.")
        return
    summary = Table(box=None, pad_edge=False)
    for heading in ("type", *jobs.STATUSES):
        summary.add_column(heading, justify="left" if heading == "type" else "right")
    by_type = {(count.job_type, count.status): count.jobs for count in counts}
    for name in sorted({count.job_type for count in counts}):
        summary.add_row(name, *(str(by_type.get((name, each), "·")) for each in jobs.STATUSES))
    console.print(summary, "")
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "type", "status", "try", "prio", "age", "next", "payload or error"):
        table.add_column(heading, no_wrap=heading != "payload or error", overflow="ellipsis")
    for job in listed:
        waiting = job.status in ("pending", "retry")
        what = job.error_msg or json.dumps(job.payload, ensure_ascii=False)
        table.add_row(
            job.id[:8],
            job.job_type,
            status(job.status),
            f"{job.attempts}/{job.max_attempts}",
            str(job.priority),
            ago(job.created_at),
            ago(job.scheduled_for) if waiting and ago(job.scheduled_for).startswith("in") else "",
            escape(what[:200]),
        )
    console.print(table)
