"""`jobbko flows`: jobs that follow one another, and how far they are."""

from __future__ import annotations

import click
from rich.table import Table

from jobbko.cli._output import ago, as_json, console, counted, print_json, say, status
from jobbko.errors import NothingMatched
from jobbko.store import jobs


@click.command()
@click.argument("id", required=False)
@click.option("--cancel", "cancelled", is_flag=True, help="Cancel what is left of flow ID.")
@click.option("--retry", "retried", is_flag=True, help="Put back the dead and cancelled steps of flow ID; it goes on.")
@click.option("--dry-run", is_flag=True, help="With --cancel or --retry: only say how many jobs.")
@click.option(
    "--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="How many, the latest first."
)
@as_json
def command(id: str | None, cancelled: bool, retried: bool, dry_run: bool, limit: int, as_json: bool) -> None:
    """List flows with their jobs by status. With the ID of one of its jobs: show it, cancel its rest, go on with it."""
    if dry_run and not (cancelled or retried):
        raise click.UsageError("--dry-run goes with --cancel or --retry.")
    if id is None:
        if cancelled or retried:
            raise click.UsageError("Give the ID of the flow to cancel or to go on with.")
        _list(limit, as_json)
        return
    if cancelled and retried:
        raise click.UsageError("Give --cancel or --retry, not both.")
    flow = jobs.job(id).flow_id
    if dry_run:
        _would(jobs.flow_counts(flow), cancelled, as_json)
        return
    if cancelled or retried:
        changed = jobs.cancel_flow(flow) if cancelled else jobs.retry_flow(flow)
        if not changed:
            raise NothingMatched(f"Flow {flow[:8]} has nothing to {'cancel' if cancelled else 'put back'}.")
        if not as_json:
            one, many = ("is cancelled", "are cancelled") if cancelled else ("waits again", "wait again")
            say(f"{counted(changed, 'job')} {one if changed == 1 else many}.")
    steps = jobs.flow(flow)
    if as_json:
        print_json({"flow": flow, "jobs": steps})
        return
    for step in steps:
        console.print(f"{'  ' * (step.step - 1)}{step.job_type} {step.id[:8]} {status(step.status)}")


def _would(counts: dict[str, int], cancelled: bool, as_json: bool) -> None:
    wanted = ("pending", "retry", "running") if cancelled else ("error", "cancelled")
    count = sum(counts.get(status, 0) for status in wanted)
    if as_json:
        print_json({"would_cancel" if cancelled else "would_put_back": count})
    else:
        say(f"{counted(count, 'job')} would {'be cancelled' if cancelled else 'wait again'}.")


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
