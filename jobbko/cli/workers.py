"""`jobbko workers`: who runs jobs, and who has stopped."""

from __future__ import annotations

import click
from rich.markup import escape
from rich.table import Table

from jobbko import settings
from jobbko.cli._output import ago, as_json, console, print_json
from jobbko.store import jobs


@click.command()
@as_json
def command(as_json: bool) -> None:
    """List the worker processes of the last day, the latest first."""
    listed = jobs.workers()
    if as_json:
        print_json({"workers": listed})
        return
    if not listed:
        console.print("No worker in the last day. `jobbko worker` starts one.")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "host", "pid", "threads", "state", "started", "job types"):
        table.add_column(heading, justify="right" if heading in ("pid", "threads") else "left")
    for worker in listed:
        table.add_row(
            worker.id[:8],
            escape(worker.host),
            str(worker.pid),
            str(worker.threads),
            _state(worker),
            ago(worker.started_at),
            ", ".join(worker.job_types),
        )
    console.print(table)


def _state(worker: jobs.Worker) -> str:
    if worker.stopped_at is not None:
        return f"[dim]stopped {ago(worker.stopped_at)} ago[/]"
    if worker.silent_for > settings.LEASE:
        return f"[red]silent for {ago(worker.heartbeat_at)}[/]"
    return "[green]alive[/]"
