"""Measuring a track: what is kept, what is not done twice, and what a bad file or an absent disk means."""

import os
import shutil
import uuid

import pytest

from actors.music import audio_analysis as job
from actors.music.artwork_download import artwork_download
from actors.music.audio_analysis import audio_analysis, unanalysed
from actors.music.filesystem_rescan import filesystem_rescan
from jobbko import audio, store
from jobbko.audio import analysis, features
from jobbko.demo.samples import SAMPLES
from jobbko.errors import Missing, Permanent, Throttled
from jobbko.store import likeness, music, music_scan

pytestmark = pytest.mark.usefixtures("tx")


@pytest.fixture
def scanned(library):
    filesystem_rescan(root=str(library))
    return library


@pytest.fixture
def measurements(monkeypatch):
    """What the analyzer would say, and for which files it was asked."""
    asked = []

    def measure(path: bytes) -> dict:
        asked.append(path)
        return {"status": "ok", "bpm": 121.5, "key_name": "A minor", "hpcp": [1.0] + [0.5] * 11}

    monkeypatch.setattr(analysis, "measure", measure)
    return asked


def found(track: music.Track) -> music.Features:
    features = music.find_features(track.id, audio.ANALYZER)
    assert features is not None
    return features


@pytest.mark.slow
@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.bpm], ids=lambda s: s.title)
def test_hears_the_tempo_and_key_that_the_piece_was_made_with(scanned, track, sample):
    audio_analysis(track(scanned, sample.path).id)

    heard = found(track(scanned, sample.path))
    assert heard.status == "ok"
    assert features.tempo_distance(heard.bpm, sample.bpm) < 0.04
    assert (heard.key_pitch_class, heard.key_mode) == (sample.pitch_class, sample.mode)
    assert heard.bpm_confidence > 1.5
    assert not heard.partial
    assert track(scanned, sample.path).audio_features_ready


def test_keeps_the_figures_and_says_that_they_are_ready(scanned, track, measurements):
    tide = track(scanned, "Loose/Tide Table.mp3")
    assert not tide.audio_features_ready

    result = audio_analysis(tide.id)

    heard = found(tide)
    assert (heard.status, heard.bpm, heard.key_name) == ("ok", 121.5, "A minor")
    assert heard.hpcp == [1.0] + [0.5] * 11
    assert (heard.analyzer_version, heard.source_size) == (audio.VERSION, tide.size)
    assert track(scanned, "Loose/Tide Table.mp3").audio_features_ready
    assert result["bpm"] == 121.5


def test_a_second_run_measures_nothing_and_leaves_one_row(scanned, track, measurements):
    tide = track(scanned, "Loose/Tide Table.mp3")

    audio_analysis(tide.id)
    again = audio_analysis(tide.id)

    assert again == {"status": "ok", "measured": False}
    assert measurements == [tide.file]
    assert store.value("select count(*) from track_audio_features") == 1


def test_a_file_that_has_changed_is_measured_again(scanned, track, measurements):
    tide = track(scanned, "Loose/Tide Table.mp3")
    audio_analysis(tide.id)
    os.utime(tide.file, ns=(0, 5))

    audio_analysis(tide.id)

    assert len(measurements) == 2
    assert found(tide).source_mtime_ns == 5
    assert store.value("select count(*) from track_audio_features") == 1


def test_a_file_that_changed_between_scan_and_measurement_is_ready_after_the_next_scan(scanned, track, measurements):
    tide = track(scanned, "Loose/Tide Table.mp3")
    with open(tide.file, "ab") as file:
        file.write(b"more")

    audio_analysis(tide.id)
    assert not track(scanned, "Loose/Tide Table.mp3").audio_features_ready  # not of the file that the row describes

    filesystem_rescan(root=str(scanned))
    assert track(scanned, "Loose/Tide Table.mp3").audio_features_ready
    assert tide.id not in list(unanalysed([tide.collection_node_id]))


def test_a_new_edition_of_the_recipe_measures_again_and_an_old_worker_does_not_undo_it(
    scanned, track, measurements, monkeypatch
):
    tide = track(scanned, "Loose/Tide Table.mp3")
    audio_analysis(tide.id)
    newer = audio.VERSION + 1

    monkeypatch.setattr(audio, "VERSION", newer)
    assert tide.id in list(unanalysed([tide.collection_node_id]))
    audio_analysis(tide.id)
    assert found(tide).analyzer_version == newer
    monkeypatch.setattr(audio, "VERSION", newer - 1)
    os.utime(tide.file, ns=(0, 5))
    audio_analysis(tide.id)

    assert found(tide).analyzer_version == newer


def test_a_bad_file_is_a_verdict_and_not_a_failure(scanned, track):
    broken = track(scanned, "Loose/Broken Tape.mp3")

    result = audio_analysis(broken.id)

    assert result["status"] == "undecodable"
    assert found(broken).reason
    assert not track(scanned, "Loose/Broken Tape.mp3").audio_features_ready
    assert broken.id not in list(unanalysed([broken.collection_node_id]))


@pytest.mark.parametrize(
    "said",
    [
        {"status": "crashed", "reason": "the analyzer died of SIGSEGV"},  # kima-hub PR 204: it took its pool along
        {"status": "timeout", "reason": "it took too long to measure"},
        {"status": "ok", "bpm": None, "key_name": None},  # subwave PR 1315: what has no tempo was tried for ever
    ],
    ids=lambda said: said["status"],
)
def test_a_verdict_holds_until_the_file_changes_whatever_it_lacks(scanned, track, monkeypatch, said):
    tide = track(scanned, "Loose/Tide Table.mp3")
    asked = []
    monkeypatch.setattr(analysis, "measure", lambda path: asked.append(path) or said)

    assert audio_analysis(tide.id)["status"] == said["status"]
    assert audio_analysis(tide.id) == {"status": said["status"], "measured": False}

    assert len(asked) == 1
    assert tide.id not in list(unanalysed([tide.collection_node_id]))


def test_keeps_what_makes_tracks_comparable(scanned, track, monkeypatch):
    tide = track(scanned, "Loose/Tide Table.mp3")
    vector = [0.5] * 56
    said = {"status": "ok", "fingerprint": "AQADtDKV", "embedding": vector, "embedding_version": 1}
    monkeypatch.setattr(analysis, "measure", lambda path: said)

    audio_analysis(tide.id)

    heard = found(tide)
    assert (heard.fingerprint, heard.embedding, heard.embedding_version) == ("AQADtDKV", vector, 1)
    (itself,) = likeness.sounds_like(tide.collection_node_id, vector, version=1, limit=10)
    assert (itself.track_id, itself.distance) == (tide.id, 0)


def test_without_an_engine_the_job_is_done_and_comes_again_when_there_is_one(scanned, track, monkeypatch):
    tide = track(scanned, "Loose/Tide Table.mp3")
    monkeypatch.setattr(audio, "available", lambda: False)
    monkeypatch.setattr(
        analysis, "measure", lambda path: {"status": "unavailable", "reason": "no essentia", "lufs": -9.0}
    )

    audio_analysis(tide.id)

    assert (found(tide).status, found(tide).lufs) == ("unavailable", -9.0)
    assert tide.id not in list(unanalysed([tide.collection_node_id]))
    assert audio_analysis(tide.id)["measured"] is False

    monkeypatch.setattr(audio, "available", lambda: True)
    monkeypatch.setattr(analysis, "measure", lambda path: {"status": "ok", "bpm": 140.0})
    assert tide.id in list(unanalysed([tide.collection_node_id]))
    audio_analysis(tide.id)
    assert found(tide).status == "ok"


def test_a_track_or_a_file_that_is_gone_is_nothing_to_do(scanned, track, measurements):
    tide = track(scanned, "Loose/Tide Table.mp3")
    os.unlink(tide.file)

    with pytest.raises(Missing):
        audio_analysis(tide.id)
    with pytest.raises(Missing):
        audio_analysis(str(uuid.uuid4()))
    assert measurements == []


def test_an_absent_disk_is_waited_for_and_judges_nobody(scanned, track, measurements):
    tide = track(scanned, "Loose/Tide Table.mp3")
    scanned.rename(scanned.parent / "unmounted")

    with pytest.raises(Throttled) as wait:
        audio_analysis(tide.id)

    assert "does not exist" in str(wait.value)
    assert wait.value.service == f"library:{tide.collection_node_id}"
    assert music.find_features(tide.id, audio.ANALYZER) is None


def test_a_disk_that_goes_away_while_measuring_judges_nobody(scanned, track, monkeypatch):
    tide = track(scanned, "Loose/Tide Table.mp3")

    def measure(path: bytes) -> dict:
        shutil.rmtree(scanned)
        return {"status": "undecodable", "reason": "Input/output error"}

    monkeypatch.setattr(analysis, "measure", measure)

    with pytest.raises(Throttled):
        audio_analysis(tide.id)
    assert music.find_features(tide.id, audio.ANALYZER) is None


def test_no_connection_is_held_while_it_measures(scanned, track, monkeypatch):
    """The test's own transaction is around everything here, so it is the order of calls that is looked at."""
    tide = track(scanned, "Loose/Tide Table.mp3")
    order = []
    monkeypatch.setattr(analysis, "measure", lambda path: order.append("measure") or {"status": "ok"})
    monkeypatch.setattr(job, "completion", lambda: order.append("completion") or store_completion())
    from broker import completion as store_completion

    audio_analysis(tide.id)

    assert order == ["measure", "completion"]


def test_asks_for_every_track_page_by_page(tmp_path, monkeypatch):
    for number in range(25):
        (tmp_path / f"{number}.mp3").write_bytes(b"%d" % number)
    filesystem_rescan(root=str(tmp_path))
    monkeypatch.setattr(music, "PAGE", 10)

    ids = list(unanalysed([music_scan.root(tmp_path).collection_node_id]))

    assert len(set(ids)) == len(ids) == 25
    assert list(unanalysed([str(uuid.uuid4())])) == []


def test_does_not_ask_for_missing_tracks(scanned, track):
    tide = track(scanned, "Loose/Tide Table.mp3")
    os.unlink(tide.file)
    filesystem_rescan(root=str(scanned))

    assert tide.id not in list(unanalysed([tide.collection_node_id]))


@pytest.mark.parametrize("job", [audio_analysis, artwork_download])
def test_what_is_no_id_can_never_work_and_says_so(job):
    with pytest.raises(Permanent, match=r"track_id '…' is no id; ids look like 3f2b8c1e-"):
        job("…")
