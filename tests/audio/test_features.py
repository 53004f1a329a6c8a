"""Figures: tempo, key, loudness and energy of sounds that were made to have known ones."""

import os
from pathlib import Path

import pytest

from jobbko.audio import analysis, decoding, features
from tests import sounds


def measure(path: Path | bytes) -> dict:
    return analysis.measure(os.fsencode(path))


@pytest.mark.slow
def test_says_tempo_key_and_loudness_of_a_piece_with_known_ones(tmp_path):
    found = measure(sounds.put(tmp_path / "a.flac", sounds.music()))

    assert found["status"] == "ok"
    assert features.tempo_distance(found["bpm"], 120) < 0.04
    assert (found["key_pitch_class"], found["key_mode"], found["key_camelot"]) == (9, "minor", "8A")
    assert found["key_agreement"] is True
    assert found["analyzed_seconds"] == pytest.approx(len(sounds.music()) / sounds.RATE, abs=0.1)
    for share in ("energy", "danceability", "melody_voiced_ratio"):
        assert 0 < found[share] <= 1
    assert len(found["hpcp"]) == 12
    assert 60 < found["melody_median_hz"] < 2000
    assert not found["partial"]


def test_loudness_is_that_of_the_standard(tmp_path):
    """EBU Tech 3341, case 1: a stereo sine of 1 kHz at -23 dBFS is -23 LUFS, within 0.1; it does not vary."""
    decoded = decoding.decode(os.fsencode(sounds.put(tmp_path / "a.flac", sounds.sine(20, 1000, -23))))

    assert decoded.lufs == pytest.approx(-23, abs=0.1)
    assert decoded.lra == pytest.approx(0, abs=0.1)
    assert decoded.true_peak_db == pytest.approx(-23, abs=0.2)
    assert decoded.seconds == pytest.approx(20, abs=0.01)


@pytest.mark.parametrize(
    ("pitch_class", "mode", "name"),
    [
        (0, "major", "8B"),
        (9, "minor", "8A"),
        (7, "major", "9B"),
        (6, "major", "2B"),
        (3, "minor", "2A"),
        (11, "major", "1B"),
    ],
)
def test_camelot_is_the_wheel_that_disc_jockeys_print(pitch_class, mode, name):
    assert features.camelot(pitch_class, mode) == name


def test_half_and_double_tempo_are_the_same_and_a_third_off_is_not():
    assert features.tempo_distance(60, 120) == pytest.approx(0)
    assert features.tempo_distance(87, 174) == pytest.approx(0)
    assert features.tempo_distance(100, 104) == pytest.approx(0.04)
    assert features.tempo_distance(80, 120) > 0.3


def test_energy_rises_with_loudness_events_and_brightness():
    assert features.energy(-30, 0, 0) == 0
    assert features.energy(-6, 8, 5000) == 1
    assert features.energy(-18, 4, 2500) == pytest.approx(0.5)
    assert features.energy(None, 4, 2500) is None
