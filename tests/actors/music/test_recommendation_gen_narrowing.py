"""From a large library to some hundred candidates, in the database."""

import uuid

import pytest

from actors.music.recommendation_gen import known, near_to
from jobbko import audio
from jobbko.store import listening
from jobbko.vibe import Seed, Spread, Track
from tests.actors.music.listening import KARI, add, node, play, recommend, start

pytestmark = pytest.mark.usefixtures("tx")


@pytest.fixture
def few(monkeypatch):
    """Small limits, so that a small library is a large one."""
    for name, value in {"CLOSEST": 8, "EACH_ARTIST": 2, "NEAR": 4, "UNHEARD": 2}.items():
        monkeypatch.setattr(listening, name, value)


def candidates(session, *seeds, seed=1):
    of = listening.locked_session(session)
    known = listening.tracks(Track, seeds, of, analyzer=audio.ANALYZER)
    spread = listening.spread(Spread, of, analyzer=audio.ANALYZER)
    found = near_to(of, [Seed(known[id], "played", 1.0) for id in seeds], spread, seed)
    return {track.title for track in found}


def test_the_nearest_are_among_them_and_some_that_were_never_heard(few):
    collection = node()
    earlier, session = start(collection), start(collection)
    played = add(collection, "played", bpm=100)
    play(session, played)
    near = {title: add(collection, title, bpm=bpm) for title, bpm in (("a", 101), ("b", 202), ("c", 99), ("d", 50))}
    far = [add(collection, f"far {n}", bpm=140) for n in range(12)]
    for track in (*near.values(), *far[:9]):
        play(earlier, track)

    found = candidates(session, played)

    assert set(near) <= found
    assert len(found) == 6
    assert found - set(near) < {"far 9", "far 10", "far 11"}
    assert found == candidates(session, played)


def test_keys_are_near_round_the_wheel(few):
    collection = node()
    session = start(collection)
    played = add(collection, "played", key_camelot="12A")
    for key in ("1A", "11A", "1B", "12B", *(f"{n}A" for n in range(3, 10))):
        play(start(collection), add(collection, key, key_camelot=key))
    play(session, played)

    assert candidates(session, played) == {"1A", "11A", "1B", "12B"}


def test_one_artist_does_not_take_all_places(few):
    collection = node()
    session = start(collection)
    played = add(collection, "played")
    for n in range(5):
        play(start(collection), add(collection, f"same {n}", "One Artist"))
    for n in range(3):
        play(start(collection), add(collection, f"other {n}", bpm=121))
    play(session, played)

    found = candidates(session, played)

    assert sum(title.startswith("same") for title in found) == 2
    assert sum(title.startswith("other") for title in found) == 2


def test_what_a_measurement_left_open_neither_fails_nor_comes_first():
    collection = node()
    session = start(collection)
    unknown = dict.fromkeys(("bpm", "key_camelot", "energy"))
    play(session, add(collection, "played"))
    add(collection, "unknown", **unknown)
    add(collection, "alike")

    assert recommend(session, "playback_completed") == ["alike", "unknown"]


def test_a_session_may_begin_with_a_track_of_which_little_is_known():
    collection = node()
    session = start(collection, KARI)
    play(session, add(collection, "played", bpm=None, key_camelot=None, energy=None))
    add(collection, "next")

    assert recommend(session, "playback_completed") == ["next"]


def test_a_track_that_is_deleted_at_this_moment_is_left_out():
    collection = node()
    track, session = add(collection, "there"), listening.locked_session(start(collection))

    assert [each.id for each in known([str(uuid.uuid4()), track], session)] == [track]
