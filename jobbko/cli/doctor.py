"""`jobbko doctor`: what is missing or wrong here, and what to do about it."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator

import click
import psycopg2

from jobbko import settings
from jobbko.cli import _health
from jobbko.cli._finding import Finding
from jobbko.cli._output import as_json, hanging, print_json
from jobbko.errors import UserError
from jobbko.store import jobs, migrate, pool

OLDEST_POSTGRES = 150_000
#: Bytes free in the data folder below which Postgres and covers are in danger.
LITTLE_SPACE = 500 * 1024**2
#: Seconds by which this machine's clock may differ from the server's.
SKEW = 5.0

MARKS = {"ok": "[green]ok[/]   ", "note": "[cyan]note[/] ", "fault": "[red]FAULT[/]"}
#: Columns before what is said: the mark, the subject, a blank after each.
INDENT = 17


@click.command()
@as_json
def command(as_json: bool) -> None:
    """Look for common faults and say what to do; exit code 1 if there is one."""
    findings = [finding for check in CHECKS for finding in _run(check)]
    if as_json:
        print_json({"findings": findings})
    else:
        for finding in findings:
            hanging(f"{MARKS[finding.state]} {finding.subject:<10} ", finding.said, INDENT)
            if finding.remedy:
                hanging(f"{'':{INDENT}}→ ", finding.remedy, INDENT + 2)
    sys.exit(any(finding.state == "fault" for finding in findings))


def _run(check: Callable[[], Iterator[Finding]]) -> list[Finding]:
    try:
        return list(check())
    except UserError as error:
        return [Finding(check.__name__, "fault", str(error))]


def python() -> Iterator[Finding]:
    yield Finding("python", "ok", ".".join(map(str, sys.version_info[:3])))


def ffmpeg() -> Iterator[Finding]:
    from jobbko.audio import decoding

    try:
        yield Finding("ffmpeg", "ok", decoding.ffmpeg())
    except UserError as error:
        yield Finding("ffmpeg", "fault", str(error), "Install ffmpeg from your distribution.")


def essentia() -> Iterator[Finding]:
    from jobbko import audio

    if audio.available():
        yield Finding("essentia", "ok", "tempo and key can be measured")
    else:
        yield Finding(
            "essentia",
            "note",
            "there is no analysis engine for this machine; scans, tags and covers work, tempo and key wait",
            "pip install essentia==2.1b6.dev1389 where a wheel exists (Linux x86_64); then scan again.",
        )


def data() -> Iterator[Finding]:
    folder = settings.data_dir()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(existing, os.W_OK):
        yield Finding("data", "fault", f"{folder} cannot be written", "Set JOBBKO_DATA_DIR to a folder of your own.")
        return
    free = shutil.disk_usage(existing).free
    if free < LITTLE_SPACE:
        said = f"only {free // 1024**2} MB free in {folder}"
        yield Finding("data", "fault", said, "Free some space, or set JOBBKO_DATA_DIR to another disk.")
    else:
        yield Finding("data", "ok", f"{folder}, {free // 1024**3} GB free")


def database() -> Iterator[Finding]:
    which = "DATABASE_URL" if settings.DATABASE_URL else "embedded Postgres"
    try:
        pool.database_url()
        server = jobs.server()
    except psycopg2.OperationalError as error:
        remedy = "Is DATABASE_URL right, and the server up? Try: psql \"$DATABASE_URL\" -c 'select 1'"
        yield Finding("database", "fault", f"{which}: {str(error).strip()}", remedy)
        return
    if server.number < OLDEST_POSTGRES:
        remedy = "Use Postgres 15 or newer, or leave DATABASE_URL unset for the embedded one."
        yield Finding("database", "fault", f"Postgres {server.version} is too old", remedy)
        return
    yield Finding("database", "ok", f"{which}, Postgres {server.version}")
    if abs(skew := time.time() - server.clock) > SKEW:
        said = f"this machine's clock differs from the server's by {skew:.0f} s"
        yield Finding("clock", "fault", said, "Run a time service (chrony, systemd-timesyncd) on both.")
    if pending := migrate.pending():
        yield Finding("schema", "fault", f"{len(pending)} migrations are pending", "jobbko migrate")
        return
    yield Finding("schema", "ok", "up to date")
    yield from _health.findings()


def music() -> Iterator[Finding]:
    for root in settings.MUSIC_ROOTS:
        try:
            empty = not any(os.scandir(root))
        except OSError as error:
            yield Finding("music", "fault", f"{root}: {error.strerror}", "Mount the disk, or mend JOBBKO_MUSIC_ROOTS.")
            continue
        if empty:
            yield Finding(
                "music", "fault", f"{root} is empty", "Is the disk mounted? Until then nothing is marked missing."
            )
        else:
            yield Finding("music", "ok", str(root))


CHECKS = (python, ffmpeg, essentia, data, database, music)
