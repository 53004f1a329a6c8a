"""`jobbko local-ai`: a gateway on this machine, for whoever has no key."""

from __future__ import annotations

import os
import sys

import click
from rich.markup import escape

from jobbko.cli._output import say


@click.command()
@click.option("--port", default=8791, show_default=True, type=click.IntRange(1, 65535), help="On loopback alone.")
def command(port: int) -> None:
    """Serve a small chat model and one for embeddings, OpenAI-compatible, until stopped.

    The model is there for demonstration: real protocol, poor answers. JOBBKO_LOCAL_MODEL names another GGUF file.
    """
    from jobbko.localai import models, process

    model = models.chat(say)
    say(f"Serving {escape(model.label)}. A worker asks it with:")
    for name, value in process.environment(port, model).items():
        if value and name != "JOBBKO_AI_BACKEND":
            say(f"  export {name}={escape(value)}")
    say("Ctrl-C ends it.")
    sys.stdout.flush()
    program = process.program(port, parent=0)
    os.execv(program[0], program)
