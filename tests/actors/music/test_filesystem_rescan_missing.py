"""Scanning a library root: what is believed to be missing, and what is not."""

from pathlib import Path

import pytest

from jobbko import store
from jobbko.audio import folders
from jobbko.store import music_scan
from tests.actors.music.scanning import collection, counted, put, rescan, states
from tests.permissions import unreadable

pytestmark = pytest.mark.usefixtures("tx")


def test_a_deleted_file_is_missing_and_comes_back(root, track):
    rescan(root)
    before = track(root, "album 0/00.mp3")
    (root / "album 0/00.mp3").rename(root.parent / "kept.mp3")

    assert counted(rescan(root)) == {"missing": 1, "unchanged": 29}
    assert track(root, "album 0/00.mp3").state == "MISSING"
    assert counted(rescan(root)) == {"unchanged": 29}

    (root.parent / "kept.mp3").rename(root / "album 0/00.mp3")
    assert counted(rescan(root)) == {"restored": 1, "unchanged": 29}
    assert track(root, "album 0/00.mp3").id == before.id
    assert track(root, "album 0/00.mp3").state == "ACTIVE"


def test_a_missing_file_that_turns_up_elsewhere_is_the_same_track(root, track):
    rescan(root)
    before = track(root, "album 0/00.mp3").id
    (root / "album 0/00.mp3").rename(root.parent / "kept.mp3")
    rescan(root)
    (root.parent / "kept.mp3").rename(root / "back.mp3")

    assert counted(rescan(root)) == {"moved": 1, "unchanged": 29}
    assert track(root, "back.mp3").id == before
    assert set(states(root).values()) == {"ACTIVE"}


def away(root: Path) -> None:
    root.rename(root.parent / "unmounted")


def emptied(root: Path) -> None:
    away(root)
    root.mkdir()


def without_music(root: Path) -> None:
    emptied(root)
    (root / "lost+found").mkdir()
    (root / "README.txt").touch()


@pytest.mark.parametrize(
    ("happens", "state", "says"),
    [(away, "absent", "does not exist"), (emptied, "empty", "is empty"), (without_music, "empty", "no music is left")],
)
@pytest.mark.parametrize("full", [False, True])
def test_a_root_that_is_not_there_marks_nothing_and_says_why(root, happens, state, says, full):
    rescan(root)
    happens(root)

    result = rescan(root, full=full)

    assert counted(result) == {}
    assert result["roots"][0]["state"] == state
    assert says in result["roots"][0]["reason"]
    assert set(states(root).values()) == {"ACTIVE"}
    assert store.value("select state from library_roots") == state


def wiped(root: Path) -> None:
    for path in root.rglob("*.mp3"):
        path.unlink()


def shrunk(root: Path) -> None:
    for path in root.rglob("more*.mp3"):
        path.unlink()


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(
    ("happens", "states_of_root"),
    [
        (away, {"absent", "unreadable"}),
        (emptied, {"empty", "absent"}),
        (without_music, {"absent"}),
        (wiped, {"vanishing", "empty"}),
        (shrunk, {"vanishing"}),
    ],
)
def test_what_happens_to_a_root_in_the_middle_of_a_scan_marks_nothing(root, monkeypatch, happens, states_of_root, full):
    for number in range(75):
        put(root, f"album {number // 25}/more {number}.mp3")
    rescan(root)
    folder, looked_at = folders.Walk._folder, []

    def in_the_middle(walk, name, *more):
        looked_at.append(name)
        if len(looked_at) == 3:  # the root itself, and one of three albums, are behind it
            happens(root)
        return folder(walk, name, *more)

    monkeypatch.setattr(folders.Walk, "_folder", in_the_middle)

    result = rescan(root, full=full)

    assert result["missing"] == 0
    assert result["roots"][0]["state"] in states_of_root
    assert set(states(root).values()) == {"ACTIVE"}


def test_a_root_that_cannot_be_read_marks_nothing(root):
    rescan(root)

    with unreadable(root):
        result = rescan(root)

    assert result["roots"][0]["state"] == "unreadable"
    assert set(states(root).values()) == {"ACTIVE"}


def test_beneath_a_folder_that_cannot_be_read_nothing_is_missing(root):
    rescan(root)
    (root / "album 1/10.mp3").unlink()

    with unreadable(root / "album 0"):
        result = rescan(root)

    assert counted(result) == {"missing": 1, "unchanged": 19}
    assert result["errors"] == ["album 0: Permission denied"]
    assert [path for path, state in states(root).items() if state == "MISSING"] == ["album 1/10.mp3"]


def test_what_lies_in_an_unreadable_folder_is_not_counted_as_vanished(root):
    """Else a large one would look like a lost disk, and truly deleted files elsewhere would not be noticed."""
    for number in range(30):
        put(root, f"large/{number}.mp3")
    rescan(root)
    (root / "album 1/10.mp3").unlink()

    with unreadable(root / "large"):
        result = rescan(root)

    assert result["roots"][0]["state"] == "ok"
    assert result["missing"] == 1


def test_a_folder_whose_name_starts_like_an_unreadable_one_is_not_excused(root):
    put(root, "album 00/x.mp3")
    rescan(root)
    (root / "album 00/x.mp3").unlink()

    with unreadable(root / "album 0"):
        assert counted(rescan(root))["missing"] == 1


def test_a_new_file_that_cannot_be_read_has_a_row_and_is_tried_again(root, track):
    with unreadable(root / "album 0/00.mp3"):
        result = rescan(root)
        assert result["errors"] == ["album 0/00.mp3: Permission denied"]
        assert track(root, "album 0/00.mp3").tag_error == "Permission denied"

    assert counted(rescan(root)) == {"changed": 1, "unchanged": 29}
    assert "Permission" not in track(root, "album 0/00.mp3").tag_error


def test_much_vanishing_at_once_marks_nothing_until_somebody_says_that_it_is_true(root):
    rescan(root)
    for number in range(21):
        (root / f"album {number // 10}/{number:02}.mp3").unlink()

    result = rescan(root)
    assert counted(result) == {"unchanged": 9}
    assert result["roots"][0]["state"] == "vanishing"
    assert "21 of 30" in result["roots"][0]["reason"]

    music_scan.accept_missing(collection(root))
    assert counted(rescan(root)) == {"missing": 21, "unchanged": 9}
    assert not music_scan.root(root).accept_missing


def test_twenty_may_vanish_at_once(root):
    rescan(root)
    for number in range(20):
        (root / f"album {number // 10}/{number:02}.mp3").unlink()

    assert counted(rescan(root)) == {"missing": 20, "unchanged": 10}
