"""`jobbko scan`: a music folder goes through the queue, and a table says what was found."""

from __future__ import annotations

import os
from pathlib import Path

import click

from jobbko import settings
from jobbko.cli._following import follow
from jobbko.cli._output import as_json, print_json, say
from jobbko.cli._processes import SomeWorker
from jobbko.cli._tracks import FIRST, show
from jobbko.cli.migrate import publish
from jobbko.errors import UserError
from jobbko.store import library, migrate


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--full", is_flag=True, help="Read every file again, also those that look unchanged.")
@click.option("--reindex", is_flag=True, help="As --full, and look up the metadata of every track again.")
@click.option("--no-wait", is_flag=True, help="Only put the scan into the queue.")
@click.option("--all", "everything", is_flag=True, help=f"Show all tracks, not only the first {FIRST}.")
@as_json
def command(folder: Path, full: bool, reindex: bool, no_wait: bool, everything: bool, as_json: bool) -> None:
    """Scan FOLDER for music: read tags, measure tempo, key and loudness, find covers.

    Runs through the queue, by a worker that is there or else by one of its own. Only what is new or changed is
    measured; interrupting is safe, and the next scan goes on where this one was.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder that can be read. Is the disk mounted?")
    migrate.migrate()
    publish()
    scan_id = send(folder, full, reindex)
    if no_wait:
        print_json({"job": scan_id}) if as_json else say(f"Scan {scan_id[:8]} waits in the queue.")
        return
    with SomeWorker(settings.data_dir() / "worker.log") as worker:
        result = follow(scan_id, worker, quiet=as_json)
    collection = result["roots"][0]["collection"]
    if as_json:
        print_json({"scan": result, "tracks": library.listing(collection), "queue": library.progress(collection)})
        return
    show(result, collection, everything)


def send(folder: Path, full: bool = False, reindex: bool = False) -> str:
    """Put a scan into the queue; the id of its job."""
    from pipelines import library as flows

    root = os.path.abspath(folder)
    flow = flows.reindex(root) if reindex else flows.scan(root, full=full)
    return str(flow.run().messages[0].message_id)
