"""The bars of a scan tell the truth, and an interrupted scan says how it goes on."""

from __future__ import annotations

import pytest
from rich.progress import Progress

from jobbko import cli
from jobbko.cli import _following, demo, scan
from jobbko.store import jobs
from jobbko.store.library import Progress as State


def state(to_measure, to_cover, later=0):
    waiting = to_measure + to_cover - later
    return State(
        to_measure, to_cover, unfinished=waiting, later=later, next_at=None, why_later=None, to_look_up=0, dead=0
    )


@pytest.fixture
def bars():
    """The texts and figures of the bars after each of these states."""
    progress = Progress(disable=True)
    shown = _following.Bars(progress)

    def after(*states):
        for each in states:
            shown.show(each)
        return {task.description: (task.completed, task.total) for task in progress.tasks}

    return after


def test_measuring_moves_before_any_cover_is_looked_for(bars):
    """Measurements come first: they are urgent, and each track's cover waits for its own."""
    assert bars(state(8, 0)) == {"Measuring": (0, 8), "Covers": (0, 8)}
    assert bars(state(5, 3)) == {"Measuring": (3, 8), "Covers": (0, 8)}
    assert bars(state(0, 8)) == {"Measuring": (8, 8), "Covers": (0, 8)}
    assert bars(state(0, 2)) == {"Measuring": (8, 8), "Covers": (6, 8)}


def test_nothing_to_do_is_no_bar(bars):
    assert bars(state(0, 0)) == {}


def test_covers_that_were_left_over_are_a_bar_alone(bars):
    assert bars(state(0, 3), state(0, 1)) == {"Covers": (2, 3)}


def test_what_is_put_off_is_not_done(bars):
    assert bars(state(4, 0), state(1, 0, later=1)) == {"Measuring": (3, 4), "Covers": (3, 4)}


@pytest.mark.parametrize("command", ["scan", "demo"])
def test_an_interrupted_scan_says_that_the_next_goes_on(database, monkeypatch, capsys, tmp_path, command):
    def interrupted(*_):
        raise KeyboardInterrupt

    class Nobody:
        def __init__(self, log): ...
        def __enter__(self):
            return self

        def __exit__(self, *_): ...

    monkeypatch.setattr("jobbko.settings.DATA_DIR", tmp_path)
    for module in (scan, demo):
        monkeypatch.setattr(module, "SomeWorker", Nobody)
    monkeypatch.setattr(demo, "scheduler_command", lambda: ["sleep", "60"])
    monkeypatch.setattr(jobs, "job", interrupted)
    arguments = ["scan", str(tmp_path)] if command == "scan" else ["demo", "--music", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["jobbko", *arguments])

    with pytest.raises(SystemExit) as ended:
        cli.main()

    said = capsys.readouterr()
    assert ended.value.code == 130
    assert said.err.strip() == "Interrupted. The next scan goes on where this one was."
