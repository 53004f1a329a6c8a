"""Wait for a scan and for what follows it, with bars for a person that tell the truth."""

from __future__ import annotations

import time
from typing import Any

import click
from rich.progress import BarColumn, Progress, SpinnerColumn, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from jobbko.cli._output import console, counted, say
from jobbko.cli._processes import SomeWorker
from jobbko.errors import UserError
from jobbko.store import jobs, library

#: Seconds between two looks at how far it is.
LOOK = 0.2


class Count(TextColumn):
    """How many of how many, as far as that is known."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.completed:.0f}" if task.total is None else f"{task.completed:.0f} of {task.total:.0f}")


def follow(scan_id: str, worker: SomeWorker, quiet: bool = False) -> dict[str, Any]:
    """Wait until the scan and what follows it are done, with bars for a person; the scan's result."""
    try:
        with Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            Count(""),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[note]}"),
            console=console,
            disable=quiet or not console.is_terminal,
        ) as bars:
            result = _follow_scan(bars, scan_id, worker)
            Bars(bars).follow(result["roots"][0]["collection"], worker)
            return result
    except KeyboardInterrupt:
        say("Ending; running jobs finish first.")
        raise click.Abort("The next scan goes on where this one was.") from None


def _follow_scan(bars: Progress, scan_id: str, worker: SomeWorker) -> dict[str, Any]:
    reading = bars.add_task("Reading files", total=None, note="")
    while (job := jobs.job(scan_id)).status not in ("completed", "error", "cancelled"):
        # How many there are is known when all are read.
        bars.update(reading, completed=(job.progress or {}).get("seen", 0), note=job.error_msg or "")
        worker.look()
        time.sleep(LOOK)
    if job.status != "completed":
        raise UserError(f"The scan failed: {job.error_msg}. `jobbko show {scan_id[:8]}` tells more.")
    result: dict[str, Any] = job.result
    root = result["roots"][0]
    if root["collection"] is None or root["state"] in ("absent", "empty", "unreadable"):
        raise UserError(f"{root['path']}: {root['reason']}")
    bars.update(reading, completed=result["seen"], total=result["seen"], note="")
    return result


class Bars:
    """One for measurements and one for covers: those come last, each after the measurement of its track.

    What waits for a service is not done, and not waited for either: the bar says how many that are.
    """

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._totals = {"Measuring": 0, "Covers": 0}
        self._tasks: dict[str, TaskID] = {}

    def follow(self, collection: str, worker: SomeWorker) -> None:
        while True:
            state = library.progress(collection)
            self.show(state)
            if not state.unfinished:
                return
            worker.look()
            time.sleep(LOOK)

    def show(self, state: library.Progress) -> None:
        note = f"{counted(state.later, 'job')} put off" if state.later else ""
        self._show("Measuring", state.to_measure, note)
        self._show("Covers", state.to_measure + state.to_cover, "")

    def _show(self, name: str, left: int, note: str) -> None:
        total = self._totals[name] = max(self._totals[name], left)
        if not total:
            return  # nothing to do is no bar, not a full one
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total, note="")
        self._bars.update(self._tasks[name], completed=total - left, total=total, note=note)
