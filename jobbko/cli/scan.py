"""`jobbko scan`: a music folder goes through the queue, and a table says what was found."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import click
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from jobbko import settings
from jobbko.cli._output import ago, as_json, console, print_json, say
from jobbko.cli._processes import SomeWorker
from jobbko.cli.migrate import publish
from jobbko.errors import UserError
from jobbko.store import jobs, library, migrate

#: Seconds between two looks at how far it is.
LOOK = 0.2


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--full", is_flag=True, help="Read every file again, also those that look unchanged.")
@click.option("--no-wait", is_flag=True, help="Only put the scan into the queue.")
@as_json
def command(folder: Path, full: bool, no_wait: bool, as_json: bool) -> None:
    """Scan FOLDER for music: read tags, measure tempo, key and loudness, find covers.

    Runs through the queue, by a worker that is there or else by one of its own. Only what is new or changed is
    measured; interrupting is safe, and the next scan goes on where this one was.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder that can be read. Is the disk mounted?")
    migrate.migrate()
    publish()
    scan_id = send(folder, full)
    if no_wait:
        print_json({"job": scan_id}) if as_json else say(f"Scan {scan_id[:8]} waits in the queue.")
        return
    with SomeWorker(settings.data_dir() / "worker.log") as worker:
        result = follow(scan_id, worker, quiet=as_json)
    collection = result["roots"][0]["collection"]
    if as_json:
        print_json({"scan": result, "tracks": library.listing(collection), "queue": library.progress(collection)})
        return
    show(result, collection)


def send(folder: Path, full: bool = False) -> str:
    """Put a scan into the queue; the id of its job."""
    from pipelines import library as flows

    return str(flows.scan(os.path.abspath(folder), full=full).run().messages[0].message_id)


def follow(scan_id: str, worker: SomeWorker, quiet: bool = False) -> dict[str, Any]:
    """Wait until the scan and what follows it are done, with a bar for a person; the scan's result."""
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[note]}"),
        console=console,
        disable=quiet or not console.is_terminal,
    ) as bars:
        reading = bars.add_task("Reading files", total=None, note="")
        while (job := jobs.job(scan_id)).status not in ("completed", "error", "cancelled"):
            done = (job.progress or {}).get("done")
            bars.update(reading, completed=done or 0, total=(job.progress or {}).get("total"), note=job.error_msg or "")
            worker.look()
            time.sleep(LOOK)
        if job.status != "completed":
            raise UserError(f"The scan failed: {job.error_msg}. `jobbko show {scan_id[:8]}` tells more.")
        result: dict[str, Any] = job.result
        root = result["roots"][0]
        if root["collection"] is None or root["state"] in ("absent", "empty", "unreadable"):
            raise UserError(f"{root['path']}: {root['reason']}")
        bars.update(reading, completed=result["seen"], total=result["seen"])
        _follow_tracks(bars, root["collection"], worker)
        return result


def _follow_tracks(bars: Progress, collection: str, worker: SomeWorker) -> None:
    """Until nothing is left that could run now; what waits for a service is named in the end."""
    total = library.progress(collection).unfinished
    measuring = bars.add_task("Measuring and covers", total=total, note="")
    while (state := library.progress(collection)).unfinished:
        total = max(total, state.unfinished)
        bars.update(measuring, completed=total - state.unfinished, total=total)
        worker.look()
        time.sleep(LOOK)
    bars.update(measuring, completed=total)


def show(result: dict[str, Any], collection: str) -> None:
    """The table of all tracks, the bad ones with their reason, and a summing-up."""
    tracks = library.listing(collection)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, justify in (
        *(("title", "left"), ("artist", "left"), ("length", "right"), ("BPM", "right"), ("key", "left")),
        *(("energy", "right"), ("LUFS", "right"), ("cover", "left")),
    ):
        table.add_column(heading, justify=justify, no_wrap=True, overflow="ellipsis")  # type: ignore[arg-type]
    bad = [track for track in tracks if track.status != "ok" and track.state == "ACTIVE"]
    for track in tracks:
        if track.status == "ok":
            table.add_row(
                escape(track.title or track.path),
                escape(track.artist),
                _length(track.seconds),
                _figure(track.bpm, 1),
                track.key or "–",
                _figure(track.energy, 2),
                _figure(track.lufs, 1),
                track.cover or "–",
            )
    if table.row_count:
        console.print(table)
    if bad:
        say(f"\n[bold]{len(bad)} could not be measured[/]")
        for track in bad:
            console.print(
                f"  {escape(track.path)}: [yellow]{track.status or 'waiting'}[/] {escape(track.reason or '')}"
            )
    for error in result["errors"]:
        say(f"  {escape(str(error))}")
    root = result["roots"][0]
    if root["reason"]:
        say(f"[yellow]{escape(root['reason'])}[/]")
    counted = ", ".join(
        f"{result[name]} {name}" for name in ("seen", "new", "changed", "moved", "missing", "unchanged")
    )
    say(f"\n{counted}.")
    state = library.progress(collection)
    if state.later:
        say(
            f"{state.later} jobs wait for something outside and go on by themselves, the next {ago(state.next_at)}: "
            f"{escape(state.why_later or '')}"
        )
    if state.dead:
        say(f"[red]{state.dead} jobs failed for good[/]: `jobbko jobs --status error`.")


def _length(seconds: float | None) -> str:
    return "–" if seconds is None else f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _figure(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
