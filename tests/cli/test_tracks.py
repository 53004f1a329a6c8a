"""What a scan tells a person: the tracks that are there, and which are bad, unread, missing or half."""

from __future__ import annotations

import pytest

from actors.music.filesystem_rescan import filesystem_rescan
from jobbko.audio import ANALYZER, VERSION
from jobbko.cli import _tracks
from jobbko.store import library, music, music_scan
from tests.actors.music.scanning import put

pytestmark = pytest.mark.usefixtures("tx")

OK = {"status": "ok", "bpm": 120}


@pytest.fixture
def folder(tmp_path):
    for number in range(30):
        put(tmp_path / "Music", f"{number:02}.mp3")
    return tmp_path / "Music"


@pytest.fixture
def look(folder, capsys):
    """Scan the folder and show what is there, as lines."""

    def show(**options):
        result = filesystem_rescan(root=str(folder))
        _tracks.show(result, music_scan.root(folder).collection_node_id, **options)
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    return show


def judge(folder, verdicts):
    for track in library.listing(music_scan.root(folder).collection_node_id):
        found = music.track(track.id)
        measured = verdicts.get(track.path, OK)
        music.set_features(
            track.id, analyzer=ANALYZER, version=VERSION, size=found.size, mtime_ns=found.mtime_ns, measured=measured
        )


def below(lines, heading):
    """The lines of the list with that heading."""
    rest = lines[lines.index(heading) + 1 :]
    return rest[: rest.index("")]


def test_a_bad_file_is_listed_with_its_verdict_and_the_reason(folder, look):
    look()
    judge(folder, {"03.mp3": {"status": "crashed", "reason": "the analyzer died of SIGSEGV"}})
    lines = look()
    (line,) = below(lines, "1 could not be measured")
    assert line.startswith("  03.mp3: crashed: the analyzer died of SIGSEGV; ")
    assert lines[-1] == "30 seen, 0 new, 30 unchanged."


def test_a_long_reason_goes_on_further_in_and_has_no_trailing_blanks(folder, look, capsys):
    look()
    judge(folder, {"03.mp3": {"status": "undecodable", "reason": "many words " * 30}})
    first, *others = below(look(), "1 could not be measured")
    assert first.startswith("  03.mp3: undecodable: many words")
    assert all(len(line) <= 120 for line in (first, *others))
    assert others
    assert all(line.startswith("    ") and line[4] != " " for line in others)


def test_a_file_that_is_gone_is_in_a_list_of_its_own_broken_or_not(folder, look):
    look()
    judge(folder, {"03.mp3": {"status": "silent", "reason": "nothing"}})
    for name in ("03.mp3", "04.mp3"):
        (folder / name).unlink()
    lines = look()
    broken, good = below(lines, "2 missing")
    assert broken.startswith("  missing since 20")
    assert broken.endswith(" UTC: 03.mp3")
    assert good.endswith(" UTC: 04.mp3")
    assert not [line for line in lines if line.startswith("04 ")]
    assert "could not be measured" not in "".join(lines)


def test_what_could_not_be_read_is_not_counted_with_what_could_not_be_measured(folder, look):
    look()
    judge(folder, {"03.mp3": {"status": "silent", "reason": "nothing"}})
    (folder / "away.mp3").symlink_to("/no/such/file")
    lines = look()
    assert len(below(lines, "1 could not be measured")) == 1
    assert below(lines, "1 could not be read") == ["  away.mp3: No such file or directory"]


def test_a_file_that_was_decoded_in_part_is_marked(folder, look):
    look()
    judge(folder, {"03.mp3": OK | {"partial": True, "reason": "Header missing"}})
    lines = look()
    assert [line.split()[0] for line in lines if line.endswith("  partial")] == ["03"]
    assert "partial: 1 could be decoded in part, and were measured by that." in lines


def test_the_first_forty_are_shown_and_all_if_somebody_wants(folder, look):
    for number in range(30, 50):
        put(folder, f"{number:02}.mp3")
    look()
    judge(folder, {})
    lines = look()
    assert sum(line.endswith("–") for line in lines) == 40
    assert "  … and 10 more: `jobbko scan --all` shows all of them, `--json` all about them." in lines
    assert sum(line.endswith("–") for line in look(everything=True)) == 50


def test_what_waits_for_its_measurement_is_said_to_wait(folder, look):
    assert "30 not measured yet" in look()
