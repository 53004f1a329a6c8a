"""`jobbko send`: put a job into the queue by hand."""

from __future__ import annotations

import json
from typing import Any

import click

from jobbko.cli._gates import known_collection, known_type
from jobbko.cli._output import as_json, print_json, say
from jobbko.cli._processes import Duration


@click.command()
@click.argument("job_type")
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--priority", type=click.IntRange(1, 1000), help="10 user-facing, 7 high, 5 normal, 1 background.")
@click.option("--delay", type=Duration(), metavar="DURATION", help="Not before 30m, 1h, 2d … from now.")
@click.option("--collection", metavar="ID", help="The collection it belongs to.")
@click.option("--dedupe-key", help="Only if no job with this key waits.")
@as_json
def command(
    job_type: str,
    parameters: tuple[str, ...],
    priority: int | None,
    delay: float | None,
    collection: str | None,
    dedupe_key: str | None,
    as_json: bool,
) -> None:
    """Send JOB_TYPE with parameters by name: jobbko send audio_analysis track_id=3f2b8c1e-….

    A value is JSON if it can be read as such (5, true, null, ["a"]), else text; '"5"' is the text 5.
    """
    payload = _payload(parameters)
    name = known_type(job_type)
    from broker import broker
    from jobbko.cli.migrate import publish

    options: dict[str, Any] = {"priority": priority, "dedupe_key": dedupe_key}
    if collection is not None:
        options["collection"] = known_collection(collection)
    publish()
    sent = broker.get_actor(name).send_with_options(
        kwargs=payload,
        delay=None if delay is None else int(delay * 1000),
        **{option: value for option, value in options.items() if value is not None},
    )
    if as_json:
        print_json({"job": sent.message_id})
    else:
        say(f"{name} {sent.message_id[:8]} waits in the queue. `jobbko show {sent.message_id[:8]}` tells how it goes.")


def _payload(parameters: tuple[str, ...]) -> dict[str, Any]:
    payload: dict[str, Any] = {}
    for written in parameters:
        name, equals, value = written.partition("=")
        if not equals or not name.isidentifier():
            raise click.UsageError(f"{written!r} is not NAME=VALUE.")
        if name in payload:
            raise click.UsageError(f"{name} is given twice.")
        try:
            payload[name] = json.loads(value)
        except ValueError:
            payload[name] = value
    return payload
