"""What a sweep must not delete, and what it does instead of deleting."""

import os

import pytest

from actors.music.cleanup_sweep import cleanup_sweep
from jobbko import settings, store
from tests.actors.music.disliking import dislike, left, state
from tests.actors.music.scanning import rescan, song, states


def test_a_file_that_is_gone_already_is_as_good_as_deleted(disliked, told):
    dislike(disliked, warned=25)
    (disliked / "album/a.flac").unlink()

    assert cleanup_sweep()["deleted"] == ["album/a.flac"]


def test_on_a_disk_that_is_away_nothing_is_taken_for_deleted(disliked, told):
    id = dislike(disliked, warned=25)
    disliked.rename(disliked.parent / "unmounted")
    disliked.mkdir()

    (kept,) = cleanup_sweep()["left"]

    assert "not mounted" in kept["reason"]
    assert state(id) == "warned"


def test_a_file_that_has_changed_since_the_scan_is_looked_at_first(disliked, told):
    dislike(disliked, warned=25)
    song(disliked, "album/a.flac", 77, title="A better one")

    (kept,) = cleanup_sweep()["left"]

    assert "changed" in kept["reason"]
    assert left(disliked) == ["a", "b", "c"]


@pytest.mark.parametrize("path", ["../victim.flac", "/tmp/victim.flac", "album/../../victim.flac"])
def test_a_path_that_leads_out_of_the_root_is_not_followed(disliked, told, path):
    # soundspan #365, #393; music-assistant PR 4559
    dislike(disliked, warned=25)
    victim = song(disliked.parent, "victim.flac")
    about = victim.stat()
    store.run("update tracks set path = %(path)s, size = %(size)s, mtime_ns = %(at)s where path_text = 'album/a.flac'",
              path=path.encode(), size=about.st_size, at=about.st_mtime_ns)  # fmt: skip

    (kept,) = cleanup_sweep()["left"]

    assert "out of its root" in kept["reason"]
    assert victim.exists()


def test_a_folder_that_leads_elsewhere_is_not_followed(disliked, told):
    dislike(disliked, warned=25)
    (disliked / "album").rename(disliked.parent / "Music2")  # a name that begins like the root's
    (disliked / "album").symlink_to(disliked.parent / "Music2")

    (kept,) = cleanup_sweep()["left"]

    assert "outside its root" in kept["reason"]
    assert (disliked.parent / "Music2/a.flac").exists()


def test_of_a_link_the_link_goes_and_not_what_it_leads_to(disliked, told):
    # bytedance/deer-flow PR 5547
    target = disliked.parent / "elsewhere.flac"
    (disliked / "album/a.flac").rename(target)
    (disliked / "album/a.flac").symlink_to(target)
    rescan(disliked)
    dislike(disliked, warned=25)

    cleanup_sweep()

    assert not os.path.lexists(disliked / "album/a.flac")
    assert target.exists()


def test_only_inside_the_configured_roots(disliked, told, monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "MUSIC_ROOTS", (tmp_path / "Other",))
    dislike(disliked, warned=25)

    (kept,) = cleanup_sweep()["left"]

    assert "JOBBKO_MUSIC_ROOTS" in kept["reason"]


def test_what_cannot_be_deleted_says_why_and_is_tried_again(disliked, told, monkeypatch):
    id = dislike(disliked, warned=25)

    def read_only(path: bytes) -> None:
        raise OSError(30, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr("actors.music.cleanup_sweep.os.unlink", read_only)
        cleanup_sweep()
    assert store.value("select error from dislikes where id = %(id)s", id=id) == "Read-only file system"
    assert "album/a.flac" in states(disliked)

    cleanup_sweep()
    assert left(disliked) == ["b", "c"]


def test_with_a_trash_folder_the_file_is_put_there(disliked, told, monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "TRASH_DIR", tmp_path / "trash")
    content = (disliked / "album/a.flac").read_bytes()
    dislike(disliked, warned=25)

    cleanup_sweep()

    (kept,) = [path for path in (tmp_path / "trash").rglob("*") if path.is_file()]
    assert kept.read_bytes() == content
    assert store.value("select trash_path from track_tombstones") == str(kept)


def test_a_dry_run_says_what_would_happen_and_does_nothing(disliked, told, monkeypatch):
    monkeypatch.setattr(settings, "CLEANUP_DRY_RUN", True)
    first, second = dislike(disliked, "a", warned=25), dislike(disliked, "b", hours=49)

    result = cleanup_sweep()

    assert (result["deleted"], result["warned"], result["dry_run"]) == (["album/a.flac"], ["album/b.flac"], True)
    assert (state(first), state(second)) == ("warned", "hidden")
    assert left(disliked) == ["a", "b", "c"]
    assert told == []


def test_one_sweep_deletes_a_hundred_at_most(folder, told, monkeypatch):
    monkeypatch.setattr("actors.music.cleanup_sweep.MOST_DELETED", 2)
    for name in ("a", "b", "c"):
        song(folder, f"album/{name}.flac")
    rescan(folder)
    for name in ("a", "b", "c"):
        dislike(folder, name, warned=25)

    assert len(cleanup_sweep()["deleted"]) == 2
    assert len(left(folder)) == 1


def test_a_track_that_is_missing_waits_until_it_is_back(disliked, told):
    id = dislike(disliked, hours=49)
    store.run("update tracks set state = 'MISSING'")

    cleanup_sweep()

    assert state(id) == "hidden"
