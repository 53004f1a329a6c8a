"""How commands show things: tables and progress for a person, JSON for a program."""

from __future__ import annotations

import dataclasses
import json
import sys
import textwrap
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

#: A person's terminal; plain text and 120 columns where there is none.
console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)


def say(text: str) -> None:
    """Free text: the terminal breaks its lines, so that a path can be copied whole."""
    console.print(text, soft_wrap=True)


def hanging(lead: str, text: str, indent: int) -> None:
    """The text after its lead (markup); what does not fit goes on below, so many columns in. Words stay whole."""
    lines = [
        part
        for line in text.splitlines()
        for part in textwrap.wrap(line, max(20, console.width - indent), break_long_words=False, break_on_hyphens=False)
    ]
    say(lead + f"\n{'':{indent}}".join(map(escape, lines)))


COLOURS = {
    "pending": "cyan",
    "running": "blue",
    "completed": "green",
    "retry": "yellow",
    "error": "red",
    "cancelled": "dim",
}


def as_json(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --json, on every command that shows something."""
    return click.option("as_json", "--json", is_flag=True, help="One JSON value instead of tables.")(command)


def print_json(value: Any) -> None:
    click.echo(json.dumps(value, default=_plain, ensure_ascii=False, indent=None))


def counted(number: int, noun: str) -> str:
    """1 job, 2 jobs."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def status(name: str) -> str:
    return f"[{COLOURS.get(name, 'white')}]{name}[/]"


def ago(at: datetime | None) -> str:
    """How long since then, or until then, in one figure: 5s, 12m, 3h, 2d."""
    if at is None:
        return ""
    seconds = (datetime.now(UTC) - at).total_seconds()
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if abs(seconds) >= size:
            return f"{'in ' if seconds < 0 else ''}{abs(seconds) / size:.0f}{unit}"
    return f"{'in ' if seconds < 0 else ''}{abs(seconds):.0f}s"


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)
