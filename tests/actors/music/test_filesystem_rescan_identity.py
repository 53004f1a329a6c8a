"""A track stays the same through moves, new tags and new formats; what is not whole waits, what is left out goes."""

import os
import threading
import time
from dataclasses import replace

import pytest
from dramatiq.middleware.threading import raise_thread_exception

from actors.music.filesystem_rescan import filesystem_rescan, settled
from jobbko import settings, store
from jobbko.audio import folders
from jobbko.engine.interrupts import Cancelled
from jobbko.store import music
from jobbko.testing.records import mbid
from tests.actors.music.scanning import collection, counted, put, rescan, song, states

pytestmark = pytest.mark.usefixtures("tx")

TAGS = {"title": "Tide Table", "artist": "Somebody", "album": "Something", "tracknumber": "3"}


def the_track(root, path) -> str:
    return music.track_at(collection(root), path.encode()).id


@pytest.fixture
def kept(folder):
    """A second track, so that the folder is never empty."""
    song(folder, "kept.flac", 99, title="Kept")
    return folder


def test_moved_and_tagged_anew_in_one_go_it_is_the_same_track(kept):
    # epoupon/lms#611
    song(kept, "in/a.flac", musicbrainz_releasetrackid=mbid("here"), **TAGS)
    rescan(kept)
    track = the_track(kept, "in/a.flac")
    (kept / "in/a.flac").unlink()
    song(kept, "Somebody/b.flac", musicbrainz_releasetrackid=mbid("here"), **TAGS | {"title": "Tide Table (live)"})

    assert counted(rescan(kept)) == {"moved": 1, "unchanged": 1}

    assert the_track(kept, "Somebody/b.flac") == track
    assert music.track(track).title == "Tide Table (live)"


def test_encoded_anew_it_is_the_same_track(kept):
    # navidrome/navidrome#2482
    song(kept, "a.flac", 200, **TAGS)
    rescan(kept)
    track = the_track(kept, "a.flac")
    (kept / "a.flac").unlink()
    song(kept, "a.oga.flac", 201.5, **TAGS)

    assert counted(rescan(kept)) == {"moved": 1, "unchanged": 1}
    assert the_track(kept, "a.oga.flac") == track


@pytest.mark.parametrize(
    ("seconds", "tags"),
    [(200, {"tracknumber": "4"}), (200, {"album": "Live"}), (260, {}), (200, {"artist": "Somebody Else"})],
    ids=["another number", "another album", "another length", "another artist"],
)
def test_a_song_that_only_resembles_it_is_another_track(kept, seconds, tags):
    song(kept, "a.flac", 200, **TAGS)
    rescan(kept)
    (kept / "a.flac").unlink()
    song(kept, "b.flac", seconds, **TAGS | tags)

    assert counted(rescan(kept)) == {"new": 1, "missing": 1, "unchanged": 1}


def test_while_its_own_file_is_there_the_other_is_a_copy(kept):
    song(kept, "a.flac", **TAGS)
    rescan(kept)
    song(kept, "b.flac", **TAGS)

    assert counted(rescan(kept)) == {"new": 1, "unchanged": 2}


def test_two_that_come_at_once_do_not_both_become_it(kept):
    song(kept, "a.flac", **TAGS)
    rescan(kept)
    (kept / "a.flac").unlink()
    song(kept, "b.flac", **TAGS)
    song(kept, "c.flac", **TAGS)

    assert counted(rescan(kept)) == {"new": 1, "moved": 1, "unchanged": 1}


def test_where_a_file_system_does_not_tell_a_from_A_a_renamed_file_is_the_same_track(kept, monkeypatch):
    song(kept, "tide.flac", **TAGS)
    rescan(kept)
    track = the_track(kept, "tide.flac")
    (kept / "tide.flac").rename(kept / "Tide.flac")
    lstat = os.lstat

    def either(path):
        return lstat(os.fsencode(path).replace(b"tide.flac", b"Tide.flac"))

    monkeypatch.setattr(folders.os, "lstat", either)

    assert counted(rescan(kept)) == {"moved": 1, "unchanged": 1}
    assert the_track(kept, "Tide.flac") == track


# --------------------------------------------------------------------------------------------- not whole yet


def test_a_file_that_is_still_being_copied_is_left_to_the_next_scan(kept, monkeypatch):
    # advplyr/audiobookshelf#1362
    monkeypatch.setattr(settings, "SETTLE", 0.2)
    path = song(kept, "half.flac", **TAGS)
    listed = folders.Walk._folder

    def growing(walk, *arguments):
        for found in listed(walk, *arguments):
            yield replace(found, size=found.size - 10) if found.path == b"half.flac" else found

    with monkeypatch.context() as patch:
        patch.setattr(folders.Walk, "_folder", growing)
        result = rescan(kept)
    assert "half.flac" not in states(kept)
    assert result["errors"] == ["half.flac: it is being written; the next scan looks at it"]

    assert counted(rescan(kept)) == {"new": 1, "unchanged": 1}
    assert path.exists()


def test_what_has_just_arrived_is_found_all_the_same(kept, monkeypatch):
    monkeypatch.setattr(settings, "SETTLE", 0.5)

    assert counted(rescan(kept)) == {"new": 1}

    assert time.time_ns() - os.stat(kept / "kept.flac").st_ctime_ns >= 0.5e9


def test_while_files_settle_the_job_can_be_interrupted(monkeypatch):
    monkeypatch.setattr(settings, "SETTLE", 60)
    waiting, ended = threading.Event(), []

    def work():
        try:
            waiting.set()
            list(settled(None, [folders.Found(b"a.flac", 1, 1, time.time_ns())]))
        except Cancelled:
            ended.append("cancelled")

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    waiting.wait(10)
    raise_thread_exception(thread.ident, Cancelled)
    thread.join(10)

    assert ended == ["cancelled"]


def test_a_known_file_that_is_being_written_is_not_missing(kept, monkeypatch):
    rescan(kept)
    monkeypatch.setattr(settings, "SETTLE", 0.1)
    listed = folders.Walk._folder
    monkeypatch.setattr(
        folders.Walk, "_folder", lambda *given: (replace(found, size=1) for found in listed(*given))
    )  # fmt: skip
    song(kept, "kept.flac", 99, title="Longer now")

    rescan(kept)

    assert states(kept) == {"kept.flac": "ACTIVE"}


# ----------------------------------------------------------------------------------------------- left out


def test_a_folder_that_is_left_out_from_now_on_has_its_tracks_marked_missing(kept):
    put(kept, "books/a.mp3")
    rescan(kept)
    (kept / "books/.nomedia").touch()

    assert counted(filesystem_rescan(root=str(kept))) == {"missing": 1, "unchanged": 1}

    (kept / "books/.nomedia").unlink()
    assert counted(rescan(kept)) == {"restored": 1, "unchanged": 1}


def test_two_roots_with_one_file_each_are_two_libraries(kept, tmp_path):
    other = tmp_path / "Other"
    (other).mkdir()
    os.link(kept / "kept.flac", other / "kept.flac")
    rescan(kept)

    assert counted(rescan(other)) == {"new": 1}
    assert store.value("select count(distinct collection_node_id) from tracks") == 2
