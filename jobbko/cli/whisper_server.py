"""`jobbko whisper-server`: speech recognition for jobs, on this machine or on one with more of a processor."""

from __future__ import annotations

import ipaddress
import os
import sys

import click
from rich.markup import escape

from jobbko.cli._output import say
from jobbko.errors import UserError


@click.command()
@click.option("--port", default=8792, show_default=True, type=click.IntRange(1, 65535))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--threads", default=0, type=click.IntRange(0, 1024), help="Of the processor; 0 for what it has.")
@click.option(
    "--model",
    envvar="JOBBKO_WHISPER_SERVER_MODEL",
    default="",
    help="A folder with a CTranslate2 model, or a name such as small or large-v3, which is fetched once. "
    "Without it, the small English one of the extra local-ai.",
)
def command(port: int, host: str, threads: int, model: str) -> None:
    """Serve faster-whisper, OpenAI-compatible, until stopped; one recording at a time.

    Beside OpenAI's fields a request may say `threads`. On an address that others reach, JOBBKO_WHISPER_KEY must be set:
    the key that requests have to bring.
    """
    from jobbko.whisper import models, process

    if not _loopback(host) and not os.environ.get("JOBBKO_WHISPER_KEY"):
        raise UserError(f"On {host} others reach this server: set JOBBKO_WHISPER_KEY, here and where jobs run.")
    found = models.find(model)
    say(f"Serving {escape(found.name)} on {escape(host)}:{port}. A worker on this machine asks it with:")
    for name, value in process.environment(port, found.name).items():
        say(f"  export {name}={escape(value)}")
    say("Ctrl-C ends it.")
    sys.stdout.flush()
    program = process.program(port, 0, host=host, threads=threads, model=model)
    os.execv(program[0], program)


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        raise UserError(f"--host {host!r} is no address to listen on, such as 127.0.0.1, ::1 or 0.0.0.0.") from None
