"""Files that jobs are given by path lie in the allowed folders, whatever name leads to them."""

import os

import pytest

from jobbko import settings
from jobbko.audio import media
from jobbko.errors import Charged, Missing, Permanent


@pytest.fixture
def roots(tmp_path, monkeypatch):
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (allowed / "talk.mp3").write_text("sound")
    monkeypatch.setattr(settings, "MEDIA_ROOTS", (allowed,))
    return allowed


def read(path):
    with media.opened(str(path)) as file:
        return os.read(file.fd, 100)


def test_a_file_in_an_allowed_folder_is_opened(roots):
    assert read(roots / "talk.mp3") == b"sound"
    assert read(roots / "." / "talk.mp3") == b"sound"


@pytest.mark.parametrize("way", ["outside", "dots", "link", "linked folder", "sibling"])
def test_no_way_leads_out_of_the_allowed_folders(roots, way):
    secret = roots.parent / "secret.txt"
    match way:
        case "outside":
            path = secret
        case "dots":
            path = f"{roots}/../secret.txt"
        case "link":
            path = roots / "link.mp3"
            path.symlink_to(secret)
        case "linked folder":
            (roots / "up").symlink_to(roots.parent)
            path = roots / "up" / "secret.txt"
        case "sibling":  # its name begins as the folder's does
            sibling = roots.parent / "allowed too"
            sibling.mkdir()
            path = sibling / "a.mp3"
            path.write_text("a")
    with pytest.raises(Permanent, match="JOBBKO_MEDIA_ROOTS"):
        read(path)


def test_the_music_library_is_always_allowed_and_without_roots_everything_is(roots, monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "MUSIC_ROOTS", (tmp_path,))
    assert read(tmp_path / "secret.txt") == b"secret"
    monkeypatch.setattr(settings, "MUSIC_ROOTS", ())
    monkeypatch.setattr(settings, "MEDIA_ROOTS", ())
    assert read(tmp_path / "secret.txt") == b"secret"


def test_a_root_that_is_a_link_itself_is_the_folder_that_it_leads_to(roots, monkeypatch, tmp_path):
    (tmp_path / "mounted").symlink_to(roots)
    monkeypatch.setattr(settings, "MEDIA_ROOTS", (tmp_path / "mounted",))
    assert read(tmp_path / "mounted" / "talk.mp3") == b"sound"


@pytest.mark.parametrize(
    ("path", "error", "why"),
    [
        ("talk.mp3", Charged, "must begin with /"),
        ("/talk\0.mp3", Charged, "must begin with /"),
        ("/nowhere/talk.mp3", Missing, "is gone"),
        ("/" + "x" * 300, Charged, "File name too long"),
    ],
)
def test_a_path_that_is_none_is_named(path, error, why):
    with pytest.raises(error, match=why):
        read(path)


def test_a_folder_and_a_pipe_are_no_files_and_are_not_waited_for(roots):
    os.mkfifo(roots / "pipe")
    for path in (roots, roots / "pipe"):
        with pytest.raises(Charged, match="is no file"):
            read(path)
