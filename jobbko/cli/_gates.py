"""What `pause` and `resume` are about: a gate by its name, a job type, a collection, or everything."""

from __future__ import annotations

import getpass
import uuid
from collections.abc import Callable
from typing import Any

import click

from jobbko.errors import NothingMatched, UserError
from jobbko.store import jobs


def target(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument and the options that name it."""
    for option in (
        click.option("--all", "everything", is_flag=True, help="Every job."),
        click.option("--collection", metavar="ID", help="All jobs of this collection."),
        click.option("--type", "job_type", metavar="JOB_TYPE", help="All jobs of this type."),
        click.argument("gate", required=False),
    ):
        command = option(command)
    return command


def gate_named(gate: str | None, job_type: str | None, collection: str | None, everything: bool) -> str:
    """The gate's name; a usage error unless exactly one is given, UserError for what does not exist."""
    if sum((gate is not None, job_type is not None, collection is not None, everything)) != 1:
        raise click.UsageError("Name one: GATE, --type, --collection or --all.")
    if gate is not None and gate.startswith("type:"):
        job_type = gate.removeprefix("type:")
    elif gate is not None and gate.startswith("collection:"):
        collection = gate.removeprefix("collection:")
    if everything or gate == "all":
        return "all"
    if job_type is not None:
        return f"type:{known_type(job_type)}"
    if collection is not None:
        return f"collection:{known_collection(collection)}"
    if gate not in (known := jobs.known_gates()):
        raise NothingMatched(f"No job needs {gate}. Gates: {', '.join(known) or 'none'}; see also --type and --all.")
    return gate


def known_type(name: str) -> str:
    import actors  # noqa: F401
    from broker import broker

    if name not in broker.actors:
        raise NothingMatched(f"There is no job type {name}. Known: {', '.join(sorted(broker.actors))}.")
    return name


def known_collection(id: str) -> str:
    try:
        written = str(uuid.UUID(id))
    except ValueError:
        raise UserError(f"{id!r} is not a collection's id; it looks like 3f2b8c1e-….") from None
    if not jobs.is_collection(written):
        raise NothingMatched(f"There is no collection {written}.")
    return written


def somebody() -> str:
    """Who says so, for the record."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user often has no name
        return "somebody"
