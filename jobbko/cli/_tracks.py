"""A library for a person: the table of its tracks, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from jobbko.cli._output import ago, console, counted, hanging, say
from jobbko.store import library
from jobbko.store.library import Row

#: Lines of a table or a list that are shown unless somebody wants all.
FIRST = 40


def show(result: dict[str, Any], collection: str, everything: bool = False) -> None:
    """The table of the tracks that are there, the bad ones with their reason, the missing ones, and a summing-up."""
    tracks = library.listing(collection)
    here = [track for track in tracks if track.state == "ACTIVE"]
    most = None if everything else FIRST
    _table([track for track in here if track.status == "ok"], most)
    _list("could not be measured", [_bad(track) for track in here if track.status not in ("ok", None)], most)
    _list("not measured yet", [track.path for track in here if track.status is None], most)
    _list("could not be read", [str(error) for error in result["errors"]], most)
    _list("missing", [_missing(track) for track in tracks if track.state != "ACTIVE"], most)
    if reason := result["roots"][0]["reason"]:
        say(f"[yellow]{escape(reason)}[/]")
    names = ("seen", "new", "changed", "moved", "missing", "restored", "unchanged", "unwanted")
    say(f"\n{', '.join(f'{result[name]} {name}' for name in names if result[name] or name in ('seen', 'new'))}.")
    if result["unwanted"]:
        say("Unwanted: deleted before because somebody disliked them. `jobbko dislikes --deleted` lists them.")
    _say_what_is_left(collection)


def _say_what_is_left(collection: str) -> None:
    state = library.progress(collection)
    if state.later:
        say(
            f"{counted(state.later, 'job')} put off for something outside, to go on without you, the next "
            f"{ago(state.next_at)}: {escape(state.why_later or '')}"
        )
    if state.to_look_up:
        say(
            f"{counted(state.to_look_up, 'track')} still to be looked up at MusicBrainz, which takes a second each at "
            "most: `jobbko up`, or any worker, goes on with it."
        )
    if state.dead:
        say(f"[red]{counted(state.dead, 'job')} failed for good[/]: `jobbko jobs --status error`.")


def _table(tracks: Sequence[Row], most: int | None) -> None:
    if not tracks:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, justify in (
        *(("title", "left"), ("artist", "left"), ("length", "right"), ("BPM", "right"), ("key", "left")),
        *(("energy", "right"), ("LUFS", "right"), ("cover", "left"), ("", "left")),
    ):
        table.add_column(heading, justify=justify, no_wrap=True, overflow="ellipsis")  # type: ignore[arg-type]
    for track in tracks[:most]:
        table.add_row(
            escape(track.title or track.path),
            escape(track.artist),
            _length(track.seconds),
            _figure(track.bpm, 1),
            track.key or "–",
            _figure(track.energy, 2),
            _figure(track.lufs, 1),
            track.cover or "–",
            "[yellow]partial[/]" if track.partial else "",
        )
    console.print(table)
    _more(len(tracks), most)
    if partial := sum(bool(track.partial) for track in tracks):
        say(f"[yellow]partial[/]: {partial} could be decoded in part, and were measured by that.")


def _list(heading: str, lines: Sequence[str], most: int | None) -> None:
    if lines:
        say(f"\n[bold]{len(lines)} {heading}[/]")
        for line in lines[:most]:
            hanging("  ", line, indent=4)
        _more(len(lines), most)


def _more(number: int, most: int | None) -> None:
    if most is not None and number > most:
        say(f"  … and {number - most} more: `jobbko scan --all` shows all of them, `--json` all about them.")


def _bad(track: Row) -> str:
    return ": ".join(part for part in (track.path, track.status, track.reason) if part)


def _missing(track: Row) -> str:
    since = "" if track.missing_since is None else f" since {track.missing_since:%Y-%m-%d %H:%M} UTC"
    return f"missing{since}: {track.path}"


def _length(seconds: float | None) -> str:
    return "–" if seconds is None else f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _figure(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
