"""`jobbko up`: everything that a home server needs, under one process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

import click
from rich.markup import escape

from jobbko import settings
from jobbko.cli._output import say
from jobbko.cli._processes import GRACE, scheduler_command, worker_command
from jobbko.cli.migrate import publish
from jobbko.errors import UserError
from jobbko.store import migrate, pool

#: Seconds before a part that ended is started again; doubled while it keeps ending, up to a minute.
FIRST_PAUSE = 1.0


@dataclass
class Part:
    """A program that is started again when it ends."""

    name: str
    program: list[str]
    #: Beside what this process has in its own.
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    pause: float = FIRST_PAUSE
    start_at: float = 0.0
    started_at: float = field(default=0.0)

    def keep(self) -> None:
        now = time.monotonic()
        if self.process is not None and (code := self.process.poll()) is not None:
            self.pause = FIRST_PAUSE if now - self.started_at > 60 else min(self.pause * 2, 60)
            say(f"[yellow]{self.name} ended with code {code}; again in {self.pause:.0f} s.[/]")
            self.process, self.start_at = None, now + self.pause
        if self.process is None and now >= self.start_at:
            self.started_at = now
            # A group of its own: Ctrl-C reaches us alone, and we tell the parts, once each.
            self.process = subprocess.Popen(
                self.program, env={**os.environ, **self.environment}, start_new_session=True
            )

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)

    def wait(self, deadline: float) -> None:
        if self.process is None:
            return
        try:
            self.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@click.command()
@click.option("--max-concurrent", default=3, show_default=True, type=click.IntRange(1, 1000), help="Jobs at a time.")
@click.option("--local-ai/--no-local-ai", default=True, help="Serve local models where no gateway is configured.")
def command(max_concurrent: int, local_ai: bool) -> None:
    """Run the database (if DATABASE_URL is not set), a worker and the scheduler; Ctrl-C ends them in peace.

    With the extra `local-ai`, and no gateway configured, also a server with a tiny model for demonstration.
    """
    pool.database_url()
    migrate.migrate()
    publish()
    say(f"Database ready. Worker with {max_concurrent} threads and scheduler start; Ctrl-C ends them.")
    models, said = _local_models() if local_ai else ([], {})
    parts = [Part("worker", worker_command(max_concurrent), said), Part("scheduler", scheduler_command())]
    try:
        while True:
            for part in models + parts:
                part.keep()
            time.sleep(0.2)
    except (KeyboardInterrupt, SystemExit):
        say("Ending; running jobs finish first.")
    deadline = time.monotonic() + GRACE
    for together in (parts, models):  # a job that runs may still need its model
        for part in together:
            part.end()
        for part in together:
            part.wait(deadline)
    sys.exit(0)


def _local_models() -> tuple[list[Part], dict[str, str]]:
    """The server of local models, where there is no other and its packages are installed; what tells a worker of it."""
    from jobbko.ai.gateways import configuration
    from jobbko.localai import models, process

    if configuration().gateways or not (models.installed() or settings.LOCAL_MODEL):
        return [], {}
    try:
        model = models.chat(say)
    except UserError as error:  # most jobs need no model
        say(f"[yellow]No local model: {escape(str(error))}[/]")
        return [], {}
    port = process.free_port()
    say(f"No gateway is configured, so jobs that need a model get {escape(model.label)}.")
    return [Part("local-ai", process.program(port, os.getpid()))], process.environment(port, model)
