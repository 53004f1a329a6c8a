"""`jobbko purge`: delete finished jobs now, without waiting for the workers to do it."""

from __future__ import annotations

import click

from jobbko.cli._output import as_json, counted, print_json, say
from jobbko.cli._processes import Age
from jobbko.store import retention
from jobbko.store.retention import Ages


@click.command()
@click.option("--completed-older-than", "completed", type=Age(), metavar="AGE", help="7d, 12h; cancelled ones too.")
@click.option("--dead-older-than", "dead", type=Age(), metavar="AGE", help="Dead letters; else they stay.")
@click.option("--dry-run", is_flag=True, help="Only say how many.")
@as_json
def command(completed: float | None, dead: float | None, dry_run: bool, as_json: bool) -> None:
    """Delete finished jobs that are older than AGE, in small batches beside running workers.

    Without an age: what JOBBKO_KEEP_COMPLETED, JOBBKO_KEEP_CANCELLED and JOBBKO_KEEP_DEAD (days) say. Steps of a flow
    that goes on are kept.
    """
    if completed is None and dead is None:
        ages = retention.by_settings()
    else:
        ages = Ages(completed=completed, cancelled=completed, dead=dead)
    found = {each.status: each.jobs for each in retention.purgeable(ages)}
    gone = 0
    while not dry_run and (batch := retention.purge(ages)):
        gone += batch
    if as_json:
        print_json({"found": found, "deleted": gone})
    elif dry_run:
        listed = ", ".join(f"{jobs} {status}" for status, jobs in found.items())
        say(f"Would delete: {listed or 'nothing'}.")
    else:
        say(f"{counted(gone, 'job')} deleted.")
