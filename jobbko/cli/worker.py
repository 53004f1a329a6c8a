"""`jobbko worker`: `dramatiq actors` with the options that people look for."""

from __future__ import annotations

import os

import click

from jobbko.cli._processes import Duration, worker_command, worker_environment
from jobbko.errors import UserError


@click.command()
@click.option("--max-concurrent", default=3, show_default=True, type=click.IntRange(1, 1000), help="Jobs at a time.")
@click.option("--poll-interval", default="1s", show_default=True, type=Duration(), help="Longest pause.")
@click.option("--types", help="Only these job types, separated by commas; to keep heavy and light work apart.")
@click.option("--processes", default=1, show_default=True, type=click.IntRange(1, 64), help="Processes.")
def command(max_concurrent: int, poll_interval: float, types: str | None, processes: int) -> None:
    """Run jobs until stopped. TERM or Ctrl-C lets running jobs finish; a second one does not."""
    if types is not None:
        _check(types)
    program = worker_command(max_concurrent, processes)
    os.execve(program[0], program, worker_environment(poll_interval, types))


def _check(types: str) -> None:
    import actors  # noqa: F401
    from broker import broker

    unknown = [name for name in map(str.strip, types.split(",")) if name not in broker.actors]
    if unknown:
        raise UserError(f"--types: unknown job type {', '.join(unknown)}. Known: {', '.join(sorted(broker.actors))}.")
