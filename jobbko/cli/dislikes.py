"""`jobbko dislikes`: which tracks are on their way out, when, and the way back."""

from __future__ import annotations

import uuid

import click
from rich.markup import escape
from rich.table import Table

from jobbko import settings
from jobbko.cli._output import ago, as_json, console, counted, print_json, say
from jobbko.errors import NothingMatched
from jobbko.store import dislikes

STATES = {"hidden": "[cyan]hidden[/]", "warned": "[yellow]to be deleted[/]", "kept": "[green]kept[/]"}


@click.command()
@click.option("--undo", metavar="ID", help="Take this dislike back; the first characters of its id are enough.")
@as_json
def command(undo: str | None, as_json: bool) -> None:
    """List what listeners dislike: hidden for 48 hours, then announced, and deleted 24 hours after that.

    Nothing is deleted without JOBBKO_NOTIFY_URL, nor what somebody else likes. JOBBKO_TRASH_DIR keeps the files,
    JOBBKO_CLEANUP_DRY_RUN=1 deletes none.
    """
    # Heavy with every job, so only when it is asked for.
    from actors.music.cleanup_sweep import DELETE_AFTER, WARN_AFTER

    listed = dislikes.listing(warn_after=WARN_AFTER, delete_after=DELETE_AFTER)
    if undo is not None:
        _undo(undo, listed, as_json)
    elif as_json:
        print_json({"dislikes": listed})
    elif not listed:
        say("Nobody dislikes anything.")
    else:
        _table(listed)


def _undo(id: str, listed: list[dislikes.Listed], as_json: bool) -> None:
    found = [each for each in listed if id and each.id.startswith(id.lower())]
    if len(found) != 1:
        raise NothingMatched(f"{len(found) or 'No'} dislikes begin with {id}; `jobbko dislikes` lists them.")
    dislikes.undo(str(uuid.UUID(found[0].id)))
    if as_json:
        print_json({"undone": found[0]})
    else:
        say(f"{escape(found[0].path_text)} stays.")


def _table(listed: list[dislikes.Listed]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "state", "disliked", "next", "track", "why not yet"):
        table.add_column(heading)
    for each in listed:
        step = {"hidden": "notice", "warned": "deletion"}.get(each.state, "")
        table.add_row(
            each.id[:8],
            STATES[each.state],
            ago(each.disliked_at),
            f"{step} {ago(each.next_at)}" if each.next_at else "somebody likes it",
            escape(" – ".join(filter(None, (each.artist_credit, each.title)))),
            escape(each.error),
        )
    console.print(table)
    if not settings.NOTIFY_URL:
        say(f"[yellow]JOBBKO_NOTIFY_URL is not set[/]: {counted(len(listed), 'track')} hidden, and none is deleted.")
