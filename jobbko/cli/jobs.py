"""`jobbko jobs`: what is in the queue."""

from __future__ import annotations

import json
import re
from typing import Any

import click
from rich.markup import escape
from rich.table import Table

from jobbko.cli._output import ago, as_json, console, print_json, say, status
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
    console.print(summary)
    say("")
    if not listed:
        say("None.")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "type", "status", "try", "prio", "age", "next", "payload or error"):
        table.add_column(heading, no_wrap=True, overflow="ellipsis")
    for job in listed:
        waiting = job.status in ("pending", "retry")
        what = (job.error_msg or "").strip().partition("\n")[0] or _shortened(job.payload)
        table.add_row(
            job.id[:8],
            job.job_type,
            status(job.status),
            f"{jobs.tries(job)}/{job.max_attempts}",
            str(job.priority),
            ago(job.created_at),
            ago(job.scheduled_for) if waiting and ago(job.scheduled_for).startswith("in") else "",
            escape(what[:200]),
        )
    console.print(table)


def _shortened(payload: dict[str, Any]) -> str:
    """Without what every payload has: quotes, and of an id as much as `show` needs."""
    texts = (f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in payload.items())
    return re.sub(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", r"\1…", " ".join(texts))
