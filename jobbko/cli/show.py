"""`jobbko show`: one job, why it is where it is, and each of its attempts."""

from __future__ import annotations

import json

import click
from rich.markup import escape
from rich.table import Table

from jobbko.cli._output import ago, as_json, console, print_json, say, status
from jobbko.store import jobs


@click.command()
@click.argument("id")
@as_json
def command(id: str, as_json: bool) -> None:
    """Show the job ID (its first characters are enough): its fields, its attempts, its flow."""
    job = jobs.job(id)
    attempts, steps = jobs.attempts(job.id), jobs.flow(job.flow_id)
    if as_json:
        print_json({"job": job, "attempts": attempts, "flow": steps})
        return
    console.print(f"[bold]{job.job_type}[/] {job.id}  {status(job.status)}")
    fields = Table(box=None, show_header=False, pad_edge=False)
    for name, said in (
        ("priority", job.priority),
        ("attempt", f"{jobs.tries(job)} of {job.max_attempts}"),
        ("created", f"{job.created_at:%Y-%m-%d %H:%M:%S} ({ago(job.created_at)})"),
        ("scheduled", f"{job.scheduled_for:%Y-%m-%d %H:%M:%S}" if job.status in ("pending", "retry") else None),
        ("needs", ", ".join(job.gates)),
        ("collection", job.collection_node_id),
        ("subject", job.subject),
        ("payload", json.dumps(job.payload, ensure_ascii=False)),
        ("progress", job.progress and json.dumps(job.progress, ensure_ascii=False)),
        ("result", None if job.result is None else json.dumps(job.result, ensure_ascii=False)[:2000]),
        ("error", job.error_msg),
    ):
        if said not in (None, ""):
            fields.add_row(f"[dim]{name}[/]", escape(str(said)))
    console.print(fields)
    if attempts:
        say("\n[bold]Attempts[/]")
        table = Table(box=None, pad_edge=False)
        for heading in ("#", "outcome", "class", "started", "took", "message"):
            table.add_column(heading)
        for each in attempts:
            took = (each.ended_at - each.started_at).total_seconds() if each.ended_at and each.started_at else None
            table.add_row(
                str(each.attempt),
                each.outcome,
                each.kind or "",
                f"{each.started_at:%H:%M:%S}" if each.started_at else "",
                "" if took is None else f"{took:.1f}s",
                escape((each.message or "")[:300]),
            )
        console.print(table)
        if attempts[-1].traceback:
            say("\n" + escape(attempts[-1].traceback.rstrip()))
    if len(steps) > 1:
        say("\n[bold]Flow[/]")
        for step in steps:
            mark = " ← this one" if step.id == job.id else ""
            console.print(f"{'  ' * step.step}{step.job_type} {step.id[:8]} {status(step.status)}{mark}")
