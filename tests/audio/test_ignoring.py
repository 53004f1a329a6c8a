"""What a library's .ignore and .nomedia files leave out."""

import os

import pytest

from jobbko.audio import folders
from jobbko.errors import UserError


@pytest.fixture
def library(tmp_path):
    for path in ("a.mp3", "live/b.mp3", "live/2019/c.mp3", "books/d.mp3", "books/e.m4b"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"x")
    return tmp_path


def found(root) -> list[str]:
    return sorted(os.fsdecode(each.path) for each in folders.Walk(os.fsencode(root)))


@pytest.mark.parametrize("name", [".nomedia", ".ignore"])
def test_a_folder_with_an_empty_file_of_that_name_is_left_out(library, name):
    (library / "live" / name).touch()
    assert found(library) == ["a.mp3", "books/d.mp3", "books/e.m4b"]


@pytest.mark.parametrize(
    ("rules", "left"),
    [
        ("books/\n", ["a.mp3", "live/2019/c.mp3", "live/b.mp3"]),
        ("*.m4b", ["a.mp3", "books/d.mp3", "live/2019/c.mp3", "live/b.mp3"]),
        ("/a.mp3\n# a comment\n", ["books/d.mp3", "books/e.m4b", "live/2019/c.mp3", "live/b.mp3"]),
        ("live/**\n!live/b.mp3", ["a.mp3", "books/d.mp3", "books/e.m4b", "live/b.mp3"]),
    ],
)
def test_its_lines_are_the_patterns_of_a_gitignore(library, rules, left):
    (library / ".ignore").write_text(rules)
    assert found(library) == left


def test_rules_hold_below_their_folder_only(library):
    (library / "live" / ".ignore").write_text("*.mp3")
    assert found(library) == ["a.mp3", "books/d.mp3", "books/e.m4b"]


def test_a_pattern_that_is_none_is_told_with_its_file(library):
    (library / ".ignore").write_text("***x\n!")
    with pytest.raises(UserError, match=r"\.ignore"):
        found(library)


def test_what_was_left_out_can_be_asked_for(library):
    (library / "live" / ".nomedia").touch()
    (library / ".ignore").write_text("*.m4b")
    walk = folders.Walk(os.fsencode(library))
    list(walk)

    covered = [
        path for path in (b"a.mp3", b"live/b.mp3", b"live/2019/c.mp3", b"books/e.m4b") if walk.ignored.covers(path)
    ]

    assert covered == [b"live/b.mp3", b"live/2019/c.mp3", b"books/e.m4b"]
