"""`jobbko migrate`: make the database what this version needs."""

from __future__ import annotations

import sys

import click

from jobbko import settings
from jobbko.cli._output import as_json, print_json, say
from jobbko.store import graph, migrate


@click.command()
@click.option("--check", is_flag=True, help="Change nothing; exit code 1 if there is something to apply.")
@as_json
def command(check: bool, as_json: bool) -> None:
    """Apply pending migrations and publish the jobs' signatures. Safe to repeat, and from many places at once.

    A database that dramatiq-pg made is converted, waiting messages included.
    """
    if check:
        pending = migrate.pending()
        if as_json:
            print_json({"pending": pending})
        else:
            say(f"Pending: {', '.join(pending)}. Run `jobbko migrate`." if pending else "Up to date.")
        sys.exit(1 if pending else 0)
    applied = migrate.migrate()
    publish()
    if as_json:
        print_json({"applied": applied})
    else:
        say("\n".join(f"applied {name}" for name in applied) or "Up to date.")


def publish() -> None:
    """What jobs there are, and which texts start some, for INSERTs from anywhere."""
    import actors  # noqa: F401  every job declares itself
    from broker import broker

    broker.job_types.publish()
    graph.set_suggest_min_chars(settings.SUGGEST_MIN_CHARS)
