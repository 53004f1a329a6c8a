"""`jobbko requeue`: many dead letters get another chance, when the reason is gone."""

from __future__ import annotations

import click

from jobbko.cli._output import as_json, counted, print_json, say
from jobbko.errors import NothingMatched
from jobbko.store import jobs


@click.command()
@click.option("--type", "job_type", help="Dead letters of this type.")
@click.option("--match", metavar="TEXT", help="Those whose error message contains TEXT.")
@click.option("--all", "everything", is_flag=True, help="Every one.")
@click.option("--dry-run", is_flag=True, help="Only say how many.")
@as_json
def command(job_type: str | None, match: str | None, everything: bool, dry_run: bool, as_json: bool) -> None:
    """Put dead letters back, as if never tried; their flows go on. One by one: jobbko retry."""
    if everything == (job_type is not None or match is not None):
        raise click.UsageError("Say which: --type, --match or both; or --all.")
    ids = jobs.dead_ids(job_type, match)
    if not ids:
        raise NothingMatched("There are no such dead letters. `jobbko dead` lists them all.")
    back = 0 if dry_run else jobs.retry_dead(ids)
    if as_json:
        print_json({"dead": len(ids), "requeued": back})
    elif dry_run:
        say(f"{counted(len(ids), 'dead letter')} would be put back.")
    else:
        stay = len(ids) - back
        left = f"; {stay} stay, since an equal job waits or somebody else has them" if stay else ""
        say(f"{counted(back, 'dead letter')} put back{left}.")
