"""`jobbko dislikes`: which tracks are on their way out, when, and the way back."""

from __future__ import annotations

import click
from rich.markup import escape
from rich.table import Table

from jobbko import settings
from jobbko.cli._output import ago, as_json, console, counted, print_json, say
from jobbko.errors import NothingMatched
from jobbko.store import dislikes
from jobbko.store.dislikes import Listed, Tombstone

STATES = {"hidden": "[cyan]hidden[/]", "warned": "[yellow]to be deleted[/]", "kept": "[green]kept[/]"}


@click.command()
@click.option("--deleted", is_flag=True, help="List what was deleted, and is left alone if it lies there again.")
@click.option("--undo", metavar="ID", help="Take it back; the first characters of its id are enough.")
@as_json
def command(deleted: bool, undo: str | None, as_json: bool) -> None:
    """List what listeners dislike: hidden for 48 hours, then announced, and deleted 24 hours after that.

    Nothing is deleted without JOBBKO_NOTIFY_URL, nor what somebody else likes. JOBBKO_TRASH_DIR keeps the files,
    JOBBKO_CLEANUP_DRY_RUN=1 deletes none. What was deleted can be taken back too: put the file there again, and scan.
    """
    if undo is not None:
        _undo(undo, as_json)
    elif deleted:
        _deleted(dislikes.tombstones(), as_json)
    else:
        _list(_listed(), as_json)


def _listed() -> list[Listed]:
    # Heavy with every job, so only when it is asked for.
    from actors.music.cleanup_sweep import DELETE_AFTER, WARN_AFTER

    return dislikes.listing(warn_after=WARN_AFTER, delete_after=DELETE_AFTER)


def _undo(id: str, as_json: bool) -> None:
    known: list[Listed | Tombstone] = [*_listed(), *dislikes.tombstones()]
    found = [each for each in known if id and each.id.startswith(id.lower())]
    if len(found) != 1:
        raise NothingMatched(f"{len(found) or 'No'} dislikes begin with {id}; `jobbko dislikes` lists them.")
    (one,) = found
    if isinstance(one, Tombstone):
        dislikes.forget_tombstone(one.id)
        where = f"; its file is {one.trash_path}" if one.trash_path else ""
        said = f"{one.path_text} is taken in by the next scan that finds it{where}."
    else:
        dislikes.undo(one.id)
        said = f"{one.path_text} stays."
    if as_json:
        print_json({"undone": one})
    else:
        say(escape(said))


def _list(listed: list[Listed], as_json: bool) -> None:
    if as_json:
        return print_json({"dislikes": listed})
    if not listed:
        return say("Nobody dislikes anything.")
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
            escape(_called(each)),
            escape(each.error),
        )
    console.print(table)
    if not settings.NOTIFY_URL:
        say(f"[yellow]JOBBKO_NOTIFY_URL is not set[/]: {counted(len(listed), 'track')} hidden, and none is deleted.")


def _deleted(listed: list[Tombstone], as_json: bool) -> None:
    if as_json:
        return print_json({"deleted": listed})
    if not listed:
        return say("Nothing was deleted.")
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "deleted", "track", "file"):
        table.add_column(heading)
    for each in listed:
        table.add_row(each.id[:8], ago(each.deleted_at), escape(_called(each)), escape(each.trash_path or "gone"))
    console.print(table)


def _called(each: Listed | Tombstone) -> str:
    return " – ".join(filter(None, (each.artist_credit, each.title))) or each.path_text
