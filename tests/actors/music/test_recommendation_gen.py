"""From what was listened to, to a batch of what to play next."""

import uuid

import pytest

from actors.music.recommendation_gen import recommendation_gen, seed_of
from jobbko import store, vibe
from jobbko.errors import Missing, Permanent
from tests.actors.music.listening import (
    KARI,
    OLA,
    SKIP_DAYS,
    add,
    batches,
    dislike,
    id_of,
    like,
    node,
    picks,
    play,
    recommend,
    seeds,
    skip,
    start,
)

pytestmark = pytest.mark.usefixtures("tx")


def test_a_session_that_starts_gets_a_batch_with_a_reason_for_each_track(forty):
    session = start(forty)

    result = recommendation_gen(session, "session_start")

    assert (result["tracks"], result["seq"], result["reason"]) == (10, 1, "")
    assert [bool(reason) for *_, reason in picks(result["batch"])] == [True] * 10
    assert batches(session) == [("session_start", 1, "")]


def test_the_seeds_are_what_was_played_to_the_end_the_latest_first_and_each_counts_half_of_the_one_before(forty):
    session = start(forty)
    for title in ("T00", "T10", "T20"):
        play(session, id_of(title))
    play(session, id_of("T30"), completed=False)

    recommend(session, "playback_completed")

    assert seeds(session) == [("T20", "played", 1.0), ("T10", "played", 0.5), ("T00", "played", 0.25)]


def test_a_new_session_starts_from_what_its_listener_likes_and_plays_and_not_from_what_others_do(forty):
    before = start(forty)
    play(before, id_of("T05"), days_ago=2)
    like(id_of("T06"))
    like(id_of("T20"), OLA)
    like(id_of("T07"))
    dislike(id_of("T07"))
    session = start(forty)

    recommend(session)

    assert {(title, kind) for title, kind, _ in seeds(session)} == {("T05", "favourite"), ("T06", "favourite")}


def test_who_is_new_starts_from_a_track_by_chance_the_same_for_the_same_session(forty):
    session = start(forty)
    recommendation_gen(session, "session_start")
    first = seeds(session)
    store.run("delete from vibe_batch")

    recommendation_gen(session, "session_start")

    assert [(kind, weight) for _, kind, weight in first] == [("chance", 1.0)]
    assert seeds(session) == first


def test_the_same_database_and_seed_give_the_same_batch(forty):
    session = start(forty)
    play(session, id_of("T20"))
    first = picks(recommendation_gen(session, "playback_completed")["batch"])
    store.run("delete from vibe_batch")

    again = picks(recommendation_gen(session, "playback_completed")["batch"])

    assert again == first
    assert store.rows("select seed, algorithm_version from vibe_batch") == [
        (seed_of(session, "playback_completed", 1), vibe.VERSION)
    ]


def test_the_nearest_in_tempo_come_first_worked_out_by_hand():
    # From 120 BPM it is 0 % to 60 (half), 10 % to 132, 21 % to 145; 90 is 33 % away, folded or not.
    collection = node()
    heard = add(collection, "heard", bpm=120)
    for bpm in (90, 145, 60, 132):
        add(collection, f"{bpm}", bpm=bpm)
    session = start(collection)
    play(session, heard)

    assert recommend(session, "playback_completed") == ["60", "132", "145", "90"]


@pytest.mark.parametrize("state", ["hidden", "warned", "kept"])
def test_what_the_listener_dislikes_is_never_picked_and_others_dislikes_are_theirs(forty, state):
    for number in range(35):
        dislike(id_of(f"T{number:02}"), state=state)
    dislike(id_of("T39"), OLA)

    assert sorted(recommend(start(forty))) == ["T35", "T36", "T37", "T38", "T39"]


@pytest.mark.parametrize(("skips", "days_ago", "picked"), [(2, 1, True), (3, 1, False), (3, SKIP_DAYS + 1, True)])
def test_what_was_skipped_several_times_stays_away_for_a_while(skips, days_ago, picked):
    collection = node()
    track = add(collection, "skipped")
    for _ in range(skips):
        skip(start(collection), track, days_ago=days_ago)

    assert recommend(start(collection)) == (["skipped"] if picked else [])


def test_a_track_that_is_played_to_the_end_again_is_forgiven_its_skips():
    collection = node()
    track = add(collection, "skipped")
    for _ in range(3):
        skip(start(collection), track, days_ago=2)
    play(start(collection), track, days_ago=1)

    assert recommend(start(collection)) == ["skipped"]


def test_a_skip_lowers_the_score_and_says_so():
    collection = node()
    played = add(collection, "played")
    skip(start(collection), add(collection, "skipped"))
    add(collection, "fresh")
    session = start(collection)
    play(session, played)

    made = picks(recommendation_gen(session, "playback_completed")["batch"])

    assert [title for title, *_ in made] == ["fresh", "skipped"]
    assert round(made[0][1] - made[1][1], 4) == 0.15
    assert made[1][3].endswith("though you skipped it once")


def test_only_tracks_that_are_there_and_were_analysed_are_picked():
    collection = node()
    add(collection, "there")
    add(collection, "missing", state="MISSING")
    add(collection, "never analysed", status=None)
    add(collection, "silent", status="silent")

    assert recommend(start(collection)) == ["there"]


def test_nothing_comes_from_another_collection(forty):
    other = node()
    add(other, "theirs", bpm=100)
    theirs = start(other)

    assert recommend(theirs) == ["theirs"]
    assert "theirs" not in recommend(start(forty))


def test_the_same_recording_under_another_name_is_not_offered_after_it_was_played():
    collection = node()
    recording = str(uuid.uuid4())
    played = add(collection, "Song", "Band", recording=recording)
    add(collection, "Song (live)", "Band", recording=recording)
    add(collection, "SONG (2011 Remaster)", "The Band")
    add(collection, "Another", "Band")
    session = start(collection)
    play(session, played)

    assert recommend(session, "playback_completed") == ["Another"]


@pytest.mark.parametrize(
    ("tracks", "status", "expected"),
    [
        (0, "ok", (0, "there is no track in the library")),
        (3, None, (0, "no track of the library has been analysed yet")),
        (3, "silent", (0, "no track of the library has been analysed yet")),
        (1, "ok", (1, "only 1 is left of 1 analysed tracks: the others were played, offered, disliked or skipped")),
        (5, "ok", (5, "only 5 are left of 5 analysed tracks: the others were played, offered, disliked or skipped")),
    ],
)
def test_a_small_library_ends_well_and_says_why_there_is_so_little(tracks, status, expected):
    collection = node()
    for number in range(tracks):
        add(collection, str(number), status=status)
    session = start(collection)

    result = recommendation_gen(session, "session_start")

    assert (result["tracks"], result["reason"]) == expected
    assert batches(session) == [("session_start", 1, expected[1])]


def test_a_session_that_is_gone_is_nothing_to_do():
    with pytest.raises(Missing):
        recommendation_gen(str(uuid.uuid4()), "session_start")


@pytest.mark.parametrize(("session", "trigger"), [("17", "session_start"), (KARI, "full_moon")])
def test_what_can_never_be_a_session_or_a_trigger_is_a_dead_letter(session, trigger):
    with pytest.raises(Permanent):
        recommendation_gen(session, trigger)
