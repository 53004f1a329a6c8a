"""`jobbko retry`: a job gets another chance, and its flow goes on."""

from __future__ import annotations

import click

from jobbko.cli._output import as_json, print_json, say
from jobbko.errors import NothingMatched
from jobbko.store import jobs


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@as_json
def command(ids: tuple[str, ...], as_json: bool) -> None:
    """Put dead, cancelled or retrying jobs back, as if never tried. Many dead letters at once: jobbko requeue."""
    found = [jobs.job(id) for id in ids]
    for job in found:
        if not jobs.retry(job.id):
            raise NothingMatched(
                f"{job.job_type} {job.id[:8]} is {job.status}, or an equal job waits; nothing to put back."
            )
        if not as_json:
            say(f"{job.job_type} {job.id[:8]} waits again.")
    if as_json:
        print_json({"retried": [job.id for job in found]})
