"""`jobbko url`: where the database is, for psql and other programs."""

from __future__ import annotations

import click

from jobbko import settings
from jobbko.cli._output import as_json, print_json
from jobbko.store import pool


@click.command()
@as_json
def command(as_json: bool) -> None:
    """Print the database's URL: psql "$(jobbko url)".

    The embedded one is started for it, and stops soon after the last command that uses it; psql does not count.
    `jobbko up` keeps it running.
    """
    address = pool.database_url()
    if as_json:
        print_json({"url": address})
        return
    click.echo(address)
    if not settings.DATABASE_URL:
        click.echo("It runs for as long as a Jobbkø command does; `jobbko up` keeps it running.", err=True)
