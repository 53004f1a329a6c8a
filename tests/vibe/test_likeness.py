"""How far apart two tracks sound."""

import math

import pytest

from jobbko.vibe import Spread, likeness
from jobbko.vibe.likeness import Term, centre, distance, key_steps
from tests.vibe.sounding import track

SPREAD = Spread(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1)
#: The weights of all terms: 3 tempo, 2 key, 2 energy, 1 danceability, 1 brightness, 2 all else.
ALL = 11.0


def apart(**other) -> float:
    return distance(track("one"), track("other", **other), SPREAD)


@pytest.mark.parametrize(
    ("one", "other", "steps"),
    [
        ("8A", "8A", 0),
        ("8A", "9A", 1),  # A minor, E minor: a fifth
        ("8A", "8B", 1),  # A minor, C major: its relative
        ("8A", "9B", 2),
        ("1A", "12A", 1),  # the wheel is round
        ("12B", "2B", 2),
        ("8A", "2A", 6),  # A minor, E flat minor: as far as it gets
        ("8A", "2B", 7),
    ],
)
def test_keys_are_steps_on_the_camelot_wheel(one, other, steps):
    assert key_steps(one, other) == key_steps(other, one) == steps


def test_a_track_is_at_no_distance_from_itself():
    assert apart() == pytest.approx(0)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"bpm": 126.0}, 3 * 0.05 / 0.4),
        ({"bpm": 60.0}, 0),
        ({"bpm": 240.0}, 0),
        ({"key_camelot": "9B"}, 2 * 2 / 4),
        ({"key_camelot": "2A"}, 2),
        ({"energy": 0.65}, 2 * 1.5 / 3),  # one and a half deviations
        ({"energy": 0.95}, 2),
        ({"danceability": 0.8}, 1),
        ({"spectral_centroid": 0.65}, 0.5),
        ({"lufs": 0.65}, 0.25),
        ({"hpcp": [0.5, -1.0]}, 0.5),  # at right angles
        ({"melody_motion": 0.8}, 0.25),
        ({"bpm": None}, 1.5),
        ({"key_camelot": None}, 1),
        ({"energy": None}, 1),
        ({"hpcp": None}, 0.25),
    ],
    ids=str,
)
def test_each_difference_counts_as_it_was_worked_out_by_hand(other, expected):
    assert apart(**other) == pytest.approx(expected / ALL)


def test_in_a_library_of_equals_nothing_is_divided_by_nothing():
    assert distance(track("one"), track("other"), Spread(energy=0.0)) == pytest.approx(0)


def test_one_term_more_is_one_line_more(monkeypatch):
    monkeypatch.setattr(likeness, "TERMS", (*likeness.TERMS, Term("vector", ALL, lambda one, other, spread: 1.0)))

    assert apart() == pytest.approx(0.5)


def test_the_middle_of_keys_and_tempos_is_found_on_their_circles():
    # 11B and 1B are one step before and one after 12B; 64 BPM and 128 BPM are the same place, log2 = 6 and 7.
    middle = centre([(track("a", key_camelot="11B", bpm=64.0), 1), (track("b", key_camelot="1B", bpm=128.0), 1)])

    assert math.cos(middle["key_at"]) == pytest.approx(1)  # 12 is the whole way round
    assert middle["key_r"] == pytest.approx(math.cos(math.pi / 6))
    assert (math.cos(middle["tempo_at"]), middle["tempo_r"]) == (pytest.approx(1), pytest.approx(1))


def test_the_middle_is_nearer_to_what_weighs_more_and_leaves_out_who_does_not_know():
    seeds = [(track("a", energy=0.2), 3), (track("b", energy=0.6), 1), (track("c", energy=None, bpm=None), 9)]

    assert centre(seeds)["energy"] == pytest.approx(0.3)
    assert centre(seeds[2:])["energy"] == 0
