"""`jobbko flows`: jobs that follow one another, and how far they are."""

from __future__ import annotations

import click
from rich.table import Table

from jobbko.cli._output import ago, as_json, console, print_json, status
from jobbko.errors import NothingMatched
from jobbko.store import jobs


@click.command()
@click.argument("id", required=False)
@click.option("--cancel", "cancelled", is_flag=True, help="Cancel what is left of flow ID.")
@click.option("--retry", "retried", is_flag=True, help="Put back the dead and cancelled steps of flow ID; it goes on.")
@click.option(
    "--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="How many, the latest first."
)
@as_json
def command(id: str | None, cancelled: bool, retried: bool, limit: int, as_json: bool) -> None:
    """List flows with their jobs by status. With the ID of one of its jobs: show it, cancel its rest, go on with it."""
    if id is None:
        if cancelled or retried:
            raise click.UsageError("Give the ID of the flow to cancel or to go on with.")
        _list(limit, as_json)
        return
    if cancelled and retried:
        raise click.UsageError("Give --cancel or --retry, not both.")
    flow = jobs.job(id).flow_id
    if cancelled or retried:
        changed = jobs.cancel_flow(flow) if cancelled else jobs.retry_flow(flow)
        if not changed:
            raise NothingMatched(f"Flow {flow[:8]} has nothing to {'cancel' if cancelled else 'put back'}.")
        if not as_json:
            console.print(f"{changed} jobs {'are cancelled' if cancelled else 'wait again'}.")
    steps = jobs.flow(flow)
    if as_json:
        print_json({"flow": flow, "jobs": steps})
        return
    for step in steps:
        console.print(f"{'  ' * (step.step - 1)}{step.job_type} {step.id[:8]} {status(step.status)}")


def _list(limit: int, as_json: bool) -> None:
    listed = jobs.flows(limit)
    if as_json:
        print_json({"flows": listed})
        return
    if not listed:
        console.print("There are no flows of more than one job.")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("flow", "begins with", "age", "jobs", *jobs.STATUSES):
        table.add_column(heading, justify="left" if heading in ("flow", "begins with") else "right")
    for flow in listed:
        counts = [str(flow.counts.get(name, "·")) for name in jobs.STATUSES]
        table.add_row(flow.id[:8], flow.job_type, ago(flow.created_at), str(flow.jobs), *counts)
    console.print(table)
