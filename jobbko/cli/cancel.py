"""`jobbko cancel`: a job that shall not run."""

from __future__ import annotations

import click

from jobbko.cli._output import as_json, print_json, say
from jobbko.errors import NothingMatched
from jobbko.store import jobs


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@as_json
def command(ids: tuple[str, ...], as_json: bool) -> None:
    """End waiting jobs for good, and interrupt running ones at their worker's next sign of life."""
    found = [jobs.job(id) for id in ids]
    for job in found:
        if not jobs.cancel(job.id):
            raise NothingMatched(f"{job.job_type} {job.id[:8]} is {job.status} already; nothing to cancel.")
        if not as_json:
            say(f"{job.job_type} {job.id[:8]} is cancelled.")
    if as_json:
        print_json({"cancelled": [job.id for job in found]})
