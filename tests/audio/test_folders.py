"""Walking a music folder: what is found, what is left alone, what is unknown."""

import os
import unicodedata
from pathlib import Path

import pytest

from jobbko.audio import folders
from jobbko.errors import Missing, Throttled
from tests.permissions import unreadable


def put(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"sound")


def walked(root: Path) -> tuple[list[str], folders.Walk]:
    walk = folders.Walk(os.fsencode(root))
    return sorted(folders.readable(found.path) for found in walk), walk


def test_finds_music_at_any_depth_with_size_and_time(tmp_path):
    put(tmp_path, "a/b/c/d.flac")
    os.utime(tmp_path / "a/b/c/d.flac", ns=(0, 1_234_567_891_000_000_007))

    (found,) = folders.Walk(os.fsencode(tmp_path))

    assert (found.path, found.size, found.mtime_ns) == (b"a/b/c/d.flac", 5, 1_234_567_891_000_000_007)


def test_knows_the_common_suffixes_in_any_case(tmp_path):
    music = [
        f"x.{s}"
        for s in [
            "mp3",
            "flac",
            "ogg",
            "oga",
            "opus",
            "m4a",
            "mp4",
            "aac",
            "wav",
            "aif",
            "aiff",
            "wma",
            "wv",
            "ape",
            "mpc",
            "mka",
            "MP3",
            "Flac",
        ]
    ]
    put(tmp_path, *music, "cover.jpg", "x.lrc", "mp3", "x.txt")

    names, _ = walked(tmp_path)

    assert names == sorted(music)


def test_leaves_alone_what_file_servers_and_macs_leave_lying_about(tmp_path):
    put(tmp_path, "._a.mp3", ".AppleDouble/a.mp3", "@eaDir/a.mp3", "#recycle/a.mp3", ".Trash-1000/a.mp3", ".a.mp3")
    put(tmp_path, "ok.mp3")

    names, walk = walked(tmp_path)

    assert names == ["ok.mp3"]
    assert walk.unknown == []


def test_a_link_back_up_is_not_followed_for_ever(tmp_path):
    put(tmp_path, "music/a.mp3")
    (tmp_path / "music/again").symlink_to(tmp_path / "music")
    (tmp_path / "music/here").symlink_to(".")

    names, walk = walked(tmp_path)

    assert names == ["music/a.mp3"]
    assert walk.errors == []


def test_a_linked_folder_is_found_under_its_real_name_if_it_has_one_here(tmp_path):
    put(tmp_path, "z/a.mp3")
    (tmp_path / "a").symlink_to(tmp_path / "z")

    names, _ = walked(tmp_path)

    assert names == ["z/a.mp3"]


def test_follows_a_link_to_a_folder_elsewhere(tmp_path):
    put(tmp_path, "elsewhere/a.mp3", "root/b.mp3")
    (tmp_path / "root/more").symlink_to(tmp_path / "elsewhere")

    names, _ = walked(tmp_path / "root")

    assert names == ["b.mp3", "more/a.mp3"]


@pytest.mark.parametrize("target", ["nowhere", "empty"])
def test_a_link_to_a_disk_that_is_not_there_is_unknown(tmp_path, target):
    put(tmp_path, "root/b.mp3")
    (tmp_path / "empty").mkdir()
    (tmp_path / "root/more").symlink_to(tmp_path / target)

    names, walk = walked(tmp_path / "root")

    assert names == ["b.mp3"]
    assert walk.unknown == [b"more"]


def test_a_folder_that_cannot_be_read_is_unknown_and_the_rest_is_found(tmp_path):
    put(tmp_path, "open/a.mp3", "shut/b.mp3")

    with unreadable(tmp_path / "shut"):
        names, walk = walked(tmp_path)

    assert names == ["open/a.mp3"]
    assert walk.unknown == [b"shut"]
    assert walk.errors == ["shut: Permission denied"]
    assert not walk.blind


def test_of_many_errors_some_are_kept_and_too_many_prove_nothing():
    # navidrome/navidrome#1164
    walk = folders.Walk(b"/music")
    for number in range(2000):
        walk.note(b"%d" % number, OSError(5, "Input/output error"))

    assert (len(walk.errors), walk.error_count) == (folders.MAX_ERRORS, 2000)
    assert walk.blind


def test_a_pipe_with_the_name_of_a_song_is_not_opened_and_not_found(tmp_path):
    os.mkfifo(tmp_path / "a.mp3")

    assert walked(tmp_path)[0] == []


def test_names_need_not_be_utf_8(tmp_path):
    name = os.path.join(os.fsencode(tmp_path), b"caf\xe9.mp3")
    with open(name, "wb") as file:
        file.write(b"sound")

    (found,) = folders.Walk(os.fsencode(tmp_path))

    assert found.path == b"caf\xe9.mp3"
    assert folders.readable(found.path) == "caf\\xe9.mp3"


def test_composed_and_decomposed_letters_are_one_name():
    name = "Sigur Rós/Ágætis.mp3"

    composed, decomposed = (unicodedata.normalize(form, name).encode() for form in ("NFC", "NFD"))

    assert composed != decomposed
    assert folders.key(composed) == folders.key(decomposed)


def test_says_why_nothing_may_be_concluded_from_a_root(tmp_path):
    (tmp_path / "empty").mkdir()
    put(tmp_path, "file", "full/a.mp3")

    assert folders.trouble(os.fsencode(tmp_path / "gone")) == (
        "absent",
        f"{tmp_path}/gone does not exist; if its disk is not mounted, mount it",
    )
    assert folders.trouble(os.fsencode(tmp_path / "empty"))[0] == "empty"
    assert folders.trouble(os.fsencode(tmp_path / "file"))[0] == "absent"
    assert folders.trouble(os.fsencode(tmp_path / "full")) is None
    with unreadable(tmp_path / "full"):
        assert folders.trouble(os.fsencode(tmp_path / "full"))[0] == "unreadable"


def test_a_file_is_gone_only_if_its_folder_can_be_read(tmp_path):
    put(tmp_path, "shut/a.mp3")

    with unreadable(tmp_path / "shut"):
        assert not folders.is_gone(os.fsencode(tmp_path / "shut/gone.mp3"))
    assert folders.is_gone(os.fsencode(tmp_path / "shut/gone.mp3"))
    assert folders.is_gone(os.fsencode(tmp_path / "shut/a.mp3/below a file"))


def test_looking_for_a_deleted_file_says_missing_and_for_an_absent_disk_wait(tmp_path):
    put(tmp_path, "root/other.mp3")

    with pytest.raises(Missing):
        folders.look(os.fsencode(tmp_path / "root"), b"a.mp3", "library:1")
    with pytest.raises(Throttled) as wait:
        folders.look(os.fsencode(tmp_path / "away"), b"a.mp3", "library:1")
    assert wait.value.service == "library:1"
