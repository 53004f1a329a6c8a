"""`jobbko requeue`: a dead job gets another chance, and its flow goes on."""

from __future__ import annotations

import click

from jobbko.cli._output import as_json, print_json, say
from jobbko.errors import UserError
from jobbko.store import jobs


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@as_json
def command(ids: tuple[str, ...], as_json: bool) -> None:
    """Put dead, cancelled or retrying jobs back, as if never tried."""
    found = [jobs.job(id) for id in ids]
    for job in found:
        if not jobs.retry(job.id):
            raise UserError(f"{job.job_type} {job.id[:8]} is {job.status}, or an equal job waits; nothing to put back.")
        if not as_json:
            say(f"{job.job_type} {job.id[:8]} waits again.")
    if as_json:
        print_json({"requeued": [job.id for job in found]})
