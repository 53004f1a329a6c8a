"""Scanning a library root: what becomes of files that are new, changed, moved or renamed."""

import os
import shutil
import unicodedata

import pytest

from actors.music.audio_analysis import unanalysed
from actors.music.filesystem_rescan import filesystem_rescan
from jobbko import settings, store
from jobbko.store import music
from tests import sounds
from tests.actors.music.scanning import collection, counted, measured, put, rescan, states

pytestmark = pytest.mark.usefixtures("tx")


def test_files_become_tracks_albums_and_artists(library):
    result = rescan(library)

    assert counted(result) == {"new": 8}
    assert result["errors"] == []
    assert store.rows("select title, artist_credit from albums order by title") == [
        ("Night Shift", "The Idle Threads"),
        ("West of the Fjord", "Solveig Lund"),
    ]
    assert store.rows("select name from artists order by name") == [("Solveig Lund",), ("The Idle Threads",)]
    assert store.rows(
        "select a.name, count(*) from track_artists join artists a on a.id = artist_id group by 1 order by 1"
    ) == [("Solveig Lund", 4), ("The Idle Threads", 3)]
    (eider,) = store.rows(
        "select title, track_no, duration_ms / 1000, tag_error from tracks where track_no = 3 and title like 'Æ%%'"
    )
    assert eider == ("Ærfugl", 3, 25, "")


def test_a_broken_file_has_a_row_with_its_reason(library, track):
    rescan(library)

    broken = track(library, "Loose/Broken Tape.mp3")

    assert broken.title == "Broken Tape"
    assert "MPEG" in broken.tag_error


def test_two_hundred_files_of_all_kinds_are_each_noticed_once(tmp_path):
    """Every format of the sample library, broken files of each, names that are hard to write; in three batches."""
    kinds = [path for path in sorted(sounds.library().rglob("*.*")) if path.suffix != ".jpg"]
    for number in range(150):
        kind = kinds[number % len(kinds)]
        put(
            tmp_path, f"disc {number % 7}/{number} é '\"{kind.suffix}", kind.read_bytes()[: 4000 + 2500 * (number % 40)]
        )
    for number in range(50):
        name = b"%d caf\xe9 -" % number + (b".flac", b".m4a", b".wma", b".mka", b".ogg")[number % 5]
        put(tmp_path, os.path.join(b"-x", name), (b"", b"<html>", b"fLaC\0\0\0\x22", b"OggS" * 9)[number % 4] or None)

    assert counted(rescan(tmp_path)) == {"new": 200}
    assert counted(rescan(tmp_path)) == {"unchanged": 200}

    (tmp_path / "-x").rename(tmp_path / "moved")
    put(tmp_path, "new.mp3")
    result = rescan(tmp_path)
    assert result["seen"] == 201
    assert result["moved"] + result["new"] == 51
    assert set(states(tmp_path).values()) <= {"ACTIVE", "MISSING"}
    assert store.value("select count(*) from tracks where tag_error <> ''") >= 50


def test_all_rows_are_in_the_collection_of_their_root(library, root):
    rescan(library)
    rescan(root)

    for table in ("artists", "albums", "tracks", "track_artists"):
        owners = {row[0] for row in store.rows(f"select distinct collection_node_id from {table}")}
        assert owners <= {collection(library), collection(root)}
    assert len(states(library)) == 8
    assert len(states(root)) == 30


def test_deleting_the_collection_deletes_what_was_learned(library):
    rescan(library)

    store.run("delete from nodes where id = %(id)s", id=collection(library))

    assert store.value("select count(*) from tracks") == 0
    assert store.value("select count(*) from library_roots") == 0


def test_a_second_scan_finds_nothing_to_do(root):
    rescan(root)

    assert counted(rescan(root)) == {"unchanged": 30}


@pytest.mark.parametrize("shift", [-(10**12), 10**15])
def test_any_other_time_is_a_change_even_an_earlier_one(root, shift):
    rescan(root)
    file = root / "album 0/00.mp3"
    os.utime(file, ns=(0, file.stat().st_mtime_ns + shift))

    assert counted(rescan(root)) == {"changed": 1, "unchanged": 29}
    assert counted(rescan(root)) == {"unchanged": 30}


def test_another_size_is_a_change_even_if_the_time_was_put_back(root):
    rescan(root)
    file = root / "album 0/00.mp3"
    before = file.stat().st_mtime_ns
    file.write_bytes(file.read_bytes() + b"more")
    os.utime(file, ns=(0, before))

    assert counted(rescan(root)) == {"changed": 1, "unchanged": 29}


def test_a_full_scan_notices_a_change_that_left_time_and_size_alone(library, track):
    rescan(library)
    file = library / "Loose/Tide Table.mp3"
    before = file.stat().st_mtime_ns
    file.write_bytes(file.read_bytes().replace(b"Tide Table", b"Ebb Tables"))
    os.utime(file, ns=(0, before))

    rescan(library)
    assert track(library, "Loose/Tide Table.mp3").title == "Tide Table"

    rescan(library, full=True)
    assert track(library, "Loose/Tide Table.mp3").title == "Ebb Tables"


def test_a_changed_file_is_to_be_measured_again_and_a_touched_one_is_not(root, track):
    rescan(root)
    changed, touched = root / "album 0/00.mp3", root / "album 0/01.mp3"
    for number in range(30):
        measured(track(root, f"album {number // 10}/{number:02}.mp3"))
    put(root, "album 0/00.mp3")
    os.utime(touched, ns=(0, 123))

    assert counted(rescan(root)) == {"changed": 2, "unchanged": 28}

    again = track(root, "album 0/00.mp3")
    assert list(unanalysed([collection(root)])) == [again.id]
    assert not again.audio_features_ready
    assert track(root, "album 0/01.mp3").audio_features_ready
    assert changed.exists()


def test_a_moved_file_stays_the_same_track_and_keeps_its_measurement(root, track):
    rescan(root)
    before = track(root, "album 0/00.mp3")
    measured(before)
    (root / "elsewhere").mkdir()
    shutil.move(root / "album 0/00.mp3", root / "elsewhere/new name.mp3")
    os.utime(root / "elsewhere/new name.mp3", ns=(0, 5))  # as after a copy to another disk

    assert counted(rescan(root)) == {"moved": 1, "unchanged": 29}

    after = track(root, "elsewhere/new name.mp3")
    assert after.id == before.id
    assert after.audio_features_ready
    assert after.id not in list(unanalysed([collection(root)]))
    assert counted(rescan(root)) == {"unchanged": 30}


def test_a_moved_folder_is_moved_and_not_missing(root):
    rescan(root)
    (root / "album 0").rename(root / "Album Zero")

    assert counted(rescan(root)) == {"moved": 10, "unchanged": 20}


def test_a_copy_is_a_new_track(root, track):
    rescan(root)
    shutil.copy(root / "album 0/00.mp3", root / "copy.mp3")

    assert counted(rescan(root)) == {"new": 1, "unchanged": 30}
    assert track(root, "copy.mp3").id != track(root, "album 0/00.mp3").id


def test_equal_files_that_move_together_are_told_apart_by_name(root, track):
    for name in ("x.mp3", "y.mp3"):
        put(root, f"old/{name}", b"the same" * 100)
    rescan(root)
    before = {name: track(root, f"old/{name}").id for name in ("x.mp3", "y.mp3")}
    (root / "old").rename(root / "new")

    assert counted(rescan(root)) == {"moved": 2, "unchanged": 30}
    assert {name: track(root, f"new/{name}").id for name in ("x.mp3", "y.mp3")} == before


def test_a_name_written_in_decomposed_letters_is_the_same_track(root, track):
    composed, decomposed = (unicodedata.normalize(form, "Ágætis/Byrjun é.mp3") for form in ("NFC", "NFD"))
    put(root, composed)
    rescan(root)
    before = track(root, composed).id
    (root / unicodedata.normalize("NFD", "Ágætis")).mkdir()
    (root / composed).rename(root / decomposed)
    (root / composed).parent.rmdir()

    assert counted(rescan(root)) == {"moved": 1, "unchanged": 30}
    assert track(root, decomposed).id == before


def test_two_files_whose_names_differ_only_in_that_are_two_tracks(root):
    for form in ("NFC", "NFD"):
        put(root, unicodedata.normalize(form, "é.mp3"))

    assert counted(rescan(root)) == {"new": 32}
    assert counted(rescan(root)) == {"unchanged": 32}


def test_a_name_that_is_not_utf_8_is_a_track_like_any_other(root):
    put(root, b"caf\xe9.mp3")

    assert counted(rescan(root)) == {"new": 31}

    found = music.track_at(collection(root), b"caf\xe9.mp3")
    assert found.path_text == "caf\\xe9.mp3"
    assert os.path.exists(found.file)
    assert counted(rescan(root)) == {"unchanged": 31}


def test_without_a_root_all_configured_ones_are_scanned(root, tmp_path, monkeypatch):
    put(tmp_path / "second", "a.mp3")
    monkeypatch.setattr(settings, "MUSIC_ROOTS", (root, tmp_path / "second", tmp_path / "typo"))

    result = filesystem_rescan()

    assert counted(result) == {"new": 31}
    assert [(found["state"], found["collection"] is None) for found in result["roots"]] == [
        ("ok", False),
        ("ok", False),
        ("absent", True),
    ]


def test_without_configuration_the_roots_scanned_before_are_scanned(root, monkeypatch):
    monkeypatch.setattr(settings, "MUSIC_ROOTS", ())
    rescan(root)

    assert counted(filesystem_rescan()) == {"unchanged": 30}


def test_a_root_is_one_collection_however_it_is_written(root):
    rescan(root)

    filesystem_rescan(root=f"{root}/../root/")

    assert store.value("select count(*) from nodes where kind = 'library_root'") == 1


def test_once_a_week_the_nightly_scan_reads_everything(root, monkeypatch):
    monkeypatch.setattr(settings, "MUSIC_ROOTS", (root,))
    rescan(root)
    filesystem_rescan()
    store.run("update library_roots set last_full_scan_at = now() - interval '7 days'")
    filesystem_rescan()

    full = store.rows("select full_read from scan_run order by started_at")

    assert full == [(False,), (False,), (True,)]


def test_a_scan_that_was_killed_leaves_nothing_to_the_next_but_its_work(root, monkeypatch):
    """It dies after its first batch; the next finds the rest, and all tracks wait for their measurement."""
    from actors.music import filesystem_rescan as job

    monkeypatch.setattr(job, "BATCH", 7)
    monkeypatch.setattr(job, "conclude", lambda run: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        rescan(root)
    monkeypatch.undo()

    rescan(root)

    assert len(list(unanalysed([collection(root)]))) == 30
    assert store.rows("select state from scan_run order by started_at") == [("running",), ("ok",)]
    assert len(states(root)) == 30


def test_keeps_what_it_has_counted(root):
    rescan(root)

    assert store.rows("select state, counts ->> 'new' from scan_run") == [("ok", "30")]
