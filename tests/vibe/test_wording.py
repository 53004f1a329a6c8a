"""What a listener is told of a pick."""

import pytest

from jobbko.vibe.wording import reason
from tests.vibe.sounding import track

BEFORE = track("before", bpm=124.0)


@pytest.mark.parametrize(
    ("known", "more", "told"),
    [
        (
            {"bpm": 126.0, "key_camelot": "9A", "plays": 0},
            {},
            "close in tempo (124 → 126 BPM), key (8A → 9A) and energy; you have not heard it yet",
        ),
        ({"bpm": 62.0, "key_camelot": None}, {}, "close in tempo (124 → 62 BPM) and energy"),
        (
            {"bpm": 170.0, "key_camelot": "2B", "energy": 0.9},
            {},
            "new: tempo (124 → 170 BPM), key (8A → 2B) and more energy",
        ),
        ({"bpm": None, "energy": 0.1}, {}, "close in key (8A); new: less energy"),
        (
            {"bpm": 124.0, "key_camelot": None, "energy": None, "plays": 0, "skips": 2},
            {"explored": True},
            "for a change, away from what you have played; close in tempo (124 BPM); you have not heard it yet;"
            " though you skipped it 2 times",
        ),
        ({"bpm": None, "key_camelot": None}, {"kind": "favourite"}, "one of your favourites; close in energy"),
        ({"bpm": None, "key_camelot": None, "energy": None}, {}, "the nearest that is left"),
    ],
)
def test_a_reason_compares_with_the_track_before(known, more, told):
    assert reason(BEFORE, track("it", **known), **more) == told


def test_what_a_session_begins_with_is_compared_with_nothing():
    assert reason(BEFORE, BEFORE, kind="chance") == "to begin with, picked by chance"
