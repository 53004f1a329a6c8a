"""Which batches a session gets while it goes on, and what is never in two of them."""

import pytest

from actors.music.recommendation_gen import ENOUGH, recommendation_gen
from jobbko import store
from jobbko.store import listening
from tests.actors.music.listening import add, batches, dislike, id_of, node, play, recommend, start

pytestmark = pytest.mark.usefixtures("tx")


def test_nothing_comes_twice_in_a_session_until_nothing_is_left(forty):
    session = start(forty)
    offered, played = recommend(session), []
    everything = {f"T{number:02}" for number in range(40)}
    while own := sorted(everything - {*offered, *played}):
        played.append(own[0])
        play(session, id_of(own[0]))
        offered += recommend(session, "playback_completed")

    assert len(offered) == len(set(offered))
    assert set(offered).isdisjoint(played)


def test_when_nothing_is_left_the_batch_is_empty_and_says_so():
    collection = node()
    session = start(collection)
    play(session, add(collection, "only"))

    assert recommend(session, "playback_completed") == []
    assert batches(session)[-1][2] == (
        "nothing is left of 1 analysed tracks: the others were played, offered, disliked or skipped"
    )


def test_a_second_run_writes_nothing_twice(forty):
    session = start(forty)
    play(session, id_of("T00"))
    for trigger in ("session_start", "session_start", "playback_completed", "playback_completed"):
        recommendation_gen(session, trigger)

    assert batches(session) == [("session_start", 1, "")]
    assert store.value("select count(*) from vibe_batch_item") == 10
    result = recommendation_gen(session, "playback_completed")
    assert result == {"batch": None, "tracks": 0, "reason": "nothing was played to the end since the last batch"}


def test_the_start_of_a_session_that_has_a_batch_brings_no_other(forty):
    session = start(forty)
    play(session, id_of("T00"))
    for trigger in ("playback_completed", "session_start"):  # as it goes when two workers take them in this order
        recommendation_gen(session, trigger)

    assert batches(session) == [("playback_completed", 1, "")]


def test_a_batch_of_a_number_that_there_is_already_is_not_written(forty):
    session = start(forty)
    recommendation_gen(session, "session_start")

    assert listening.add_batch(
        listening.locked_session(session), "session_start", 1,
        version=1, seed=0, after_event=None, reason="", seeds=[], items=[],
    ) is None  # fmt: skip


def test_who_plays_what_she_was_offered_gets_more_when_half_of_it_is_left_no_sooner(forty):
    session = start(forty)
    offered = recommend(session)
    made = []
    for title in offered[: 10 - ENOUGH + 1]:
        play(session, id_of(title))
        made.append(len(recommend(session, "playback_completed")))

    assert made == [0, 0, 0, 0, 0, 10]


def test_what_she_dislikes_of_a_batch_is_not_ahead_any_more(forty):
    session = start(forty)
    first, *others = recommend(session)
    for title in others[:5]:
        dislike(id_of(title))
    play(session, id_of(first))

    assert len(recommend(session, "playback_completed")) == 10


def test_who_goes_her_own_way_gets_a_new_batch_at_once(forty):
    session = start(forty)
    offered = recommend(session)
    own = next(f"T{number:02}" for number in range(40) if f"T{number:02}" not in offered)
    play(session, id_of(own))

    assert len(recommend(session, "playback_completed")) == 10
    assert [(trigger, seq) for trigger, seq, _ in batches(session)] == [
        ("session_start", 1),
        ("playback_completed", 1),
    ]
