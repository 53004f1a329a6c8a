"""`jobbko demo`: the whole way, on music that comes with it or on yours."""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from jobbko import settings
from jobbko.cli._following import follow
from jobbko.cli._output import say
from jobbko.cli._processes import SomeWorker, ourselves, running, scheduler_command
from jobbko.cli._tracks import FIRST, show
from jobbko.cli.migrate import publish
from jobbko.cli.scan import send
from jobbko.errors import UserError
from jobbko.store import embedded, installation, library, migrate, pool

if TYPE_CHECKING:
    from jobbko.demo.samples import Sample

#: A tempo is right if it is within this share of the truth, or of its half or double (MIREX audio tempo estimation).
TEMPO_TOLERANCE = 0.04


@click.command()
@click.option(
    "--music", envvar="MUSIC", type=click.Path(path_type=Path), help="Your own folder instead of the samples."
)
@click.option("--once", envvar="DEMO_ONCE", is_flag=True, help="End after the table; exit code 1 if anything is wrong.")
@click.option("--all", "everything", is_flag=True, help=f"Show all tracks, not only the first {FIRST}.")
def command(music: Path | None, once: bool, everything: bool) -> None:
    """Database, worker, scheduler, and a music folder through the queue: scan, measure, covers."""
    if music is not None and not music.is_dir():
        raise UserError(f"MUSIC={music} is not a folder that can be read.")
    if settings.DATABASE_URL:
        say("Using DATABASE_URL.")
    elif not embedded.is_running():
        say(f"Starting the embedded Postgres in {settings.data_dir()} …")
    pool.database_url()
    migrate.migrate()
    publish()
    log = settings.data_dir() / "demo.log"
    truth: list[Sample] = []
    with ExitStack() as stack:
        if music is None:
            music, truth = _samples()
            # Nobody knows music that was made up for this.
            os.environ.update(JOBBKO_MUSICBRAINZ_URL="off", JOBBKO_LRCLIB_URL="off")
        worker = stack.enter_context(SomeWorker(log))
        stack.enter_context(running(scheduler_command(), stack.enter_context(log.open("ab"))))
        scan_id = send(music)
        result = follow(scan_id, worker)
        collection = result["roots"][0]["collection"]
        show(result, collection, everything)
        wrong = _wrong(collection, truth)
        for line in wrong:
            say(f"[red]{line}[/]")
        _where_to_look(scan_id, log, once)
        if once:
            sys.exit(1 if wrong else 0)
        say("The worker and the scheduler go on; Ctrl-C ends them.")
        try:
            while True:
                worker.look()
                time.sleep(2)
        except KeyboardInterrupt:
            say("Ending.")


def _samples() -> tuple[Path, list[Sample]]:
    """The library that comes with it, rendered once and kept, so that a second demo finds it unchanged."""
    from jobbko.demo.samples import SAMPLES, render

    folder = settings.data_dir() / "demo-music"
    if not all((folder / sample.path).exists() for sample in SAMPLES):
        say("Rendering a small music library: mp3, flac, m4a, ogg, opus, wav, and one broken file …")
        partial = Path(tempfile.mkdtemp(dir=folder.parent))
        render(partial)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    return folder, list(SAMPLES)


def _wrong(collection: str, truth: list[Sample]) -> list[str]:
    """What should have worked and did not, against the samples' known answers; nothing for somebody's own music."""
    rows = {row.path: row for row in library.listing(collection)}
    dead = library.progress(collection).dead
    wrong = [f"{dead} jobs failed for good: jobbko jobs --status error"] if dead else []
    for sample in truth:
        row = rows.get(sample.path)
        if row is None or row.status is None:
            wrong.append(f"{sample.path}: not accounted for")
        elif sample.bpm == 0:
            if row.status == "ok" or not row.reason:
                wrong.append(f"{sample.path}: broken, but said to be {row.status}")
        elif row.status == "unavailable":
            continue  # no analysis engine for this machine; said so in the table
        elif row.status != "ok" or row.bpm is None or row.cover is None:
            wrong.append(f"{sample.path}: {row.status}, BPM {row.bpm}, cover {row.cover}: {row.reason or ''}")
        elif not same_tempo(row.bpm, sample.bpm):
            wrong.append(f"{sample.path}: {row.bpm:.1f} BPM instead of {sample.bpm:g}")
    return wrong


def same_tempo(measured: float, true: float) -> bool:
    """Equal within 4 %, or after halving or doubling: listeners disagree about which beat to count."""
    return any(abs(math.log2(measured * factor / true)) <= math.log2(1 + TEMPO_TOLERANCE) for factor in (0.5, 1, 2))


def _where_to_look(scan_id: str, log: Path, once: bool) -> None:
    us = ourselves()
    say("\n[bold]Where to look next[/]")
    for line, what in (
        (f"{us} jobs", "what went through the queue"),
        (f"{us} show {scan_id[:8]}", "the scan, its attempts and its flow"),
        (f"{us} scan ~/Music", "your own music"),
        (os.fspath(log), "what the worker and the scheduler said"),
    ):
        say(f"  {escape(line):<{len(us) + 16}}  {what}")
    if settings.DATABASE_URL:
        say("  psql \"$DATABASE_URL\" -c 'table job_queue'")
    elif once:
        say(f"The database stops now. `{us} up` keeps it running, and `{us} url` says where it is, for psql.")
    else:
        say(f"  {installation.psql()} '{pool.database_url()}' -c 'table job_queue'\n")
