"""From a dislike to a deleted file: one notice between, and every way back."""

import psycopg2
import pytest

from actors.music.cleanup_sweep import MOST_BYTES, cleanup_sweep, notice
from jobbko import store
from jobbko.errors import Throttled
from jobbko.store import dislikes, music
from tests.actors.music.disliking import KARI, dislike, left, like, state
from tests.actors.music.scanning import collection, put, rescan, song, states


@pytest.mark.parametrize(("hours", "expected"), [(47.9, "hidden"), (48.1, "warned")])
def test_after_48_hours_and_not_before_a_notice_is_sent(disliked, told, hours, expected):
    id = dislike(disliked, hours=hours)

    cleanup_sweep()

    assert state(id) == expected
    assert len(told) == (expected == "warned")


def test_the_notice_is_one_and_names_the_track(disliked, told):
    dislike(disliked, hours=49)

    cleanup_sweep()
    cleanup_sweep()

    assert told == [
        "Jobbkø: 1 disliked track will be deleted in 24 hours unless the dislike is taken back: Somebody – A."
    ]


@pytest.mark.parametrize(("hours", "expected"), [(23.9, ["a", "b", "c"]), (24.1, ["b", "c"])])
def test_24_hours_after_the_notice_and_not_before_the_file_is_deleted(disliked, told, hours, expected):
    dislike(disliked, hours=100, warned=hours)

    result = cleanup_sweep()

    assert left(disliked) == expected
    assert result["deleted"] == ([] if "a" in expected else ["album/a.flac"])


def test_with_the_file_go_all_its_rows(disliked, told):
    dislike(disliked, warned=25)
    track = music.track_at(collection(disliked), b"album/a.flac")
    store.run("insert into lyrics (track_id, source, collection_node_id, plain) values (%(t)s, 'user', %(c)s, 'x')",
              t=track.id, c=track.collection_node_id)  # fmt: skip

    cleanup_sweep()

    assert "album/a.flac" not in states(disliked)
    assert store.value("select count(*) from lyrics") == store.value("select count(*) from dislikes") == 0


def test_a_dislike_of_long_ago_is_warned_of_first_and_not_deleted_in_the_same_sweep(disliked, told):
    id = dislike(disliked, hours=1000)

    cleanup_sweep()

    assert state(id) == "warned"
    assert left(disliked) == ["a", "b", "c"]


def test_until_the_notice_was_accepted_nothing_is_warned(disliked, told, services):
    id = dislike(disliked, hours=49)
    services.down.add("ntfy")

    with pytest.raises(Throttled):
        cleanup_sweep()

    assert state(id) == "hidden"


def test_without_somewhere_to_send_it_nothing_is_ever_deleted(disliked, services):
    id = dislike(disliked, hours=1000)

    assert cleanup_sweep()["warned"] == []

    assert state(id) == "hidden"


def test_many_are_named_in_few_notices_that_ntfy_takes(folder, told, services):
    for number in range(45):
        song(folder, f"album/{number}.flac", title=f"{number} " + "Ø" * 500, artist="x\ny")
    rescan(folder)
    for number in range(45):
        dislike(folder, str(number), hours=49)

    cleanup_sweep()

    assert len(told) == 3
    assert all(len(line.encode()) <= MOST_BYTES and "\n" not in line for line in told)
    assert sum(line.count("x y – ") for line in told) == 45


def test_a_notice_for_one_with_an_endless_name_fits():
    endless = dislikes.Unwanted("1", "2", "3", "Ø" * 100_000, "", "path")
    assert len(notice([endless]).encode()) <= MOST_BYTES


@pytest.mark.parametrize("warned", [None, 25])
def test_taken_back_in_time_nothing_happens(disliked, told, warned):
    id = dislike(disliked, hours=100, warned=warned)
    assert dislikes.undo(id)

    cleanup_sweep()

    assert left(disliked) == ["a", "b", "c"]
    assert told == []


@pytest.mark.parametrize("warned", [None, 25])
def test_what_somebody_else_likes_is_kept(disliked, told, warned):
    id = dislike(disliked, hours=100, warned=warned)
    like(disliked)

    cleanup_sweep()

    assert state(id) == "kept"
    assert left(disliked) == ["a", "b", "c"]


def test_when_nobody_likes_it_any_more_its_time_starts_anew(disliked, told):
    id = dislike(disliked, hours=100)
    like(disliked)
    cleanup_sweep()
    store.run("delete from likes")

    cleanup_sweep()

    assert state(id) == "hidden"
    assert told == []


def test_her_own_like_from_before_does_not_keep_it(disliked, told):
    dislike(disliked, warned=25)
    like(disliked, user=KARI)

    cleanup_sweep()

    assert left(disliked) == ["b", "c"]


def test_a_scan_does_not_bring_it_back_under_any_name(disliked, told, folder):
    content = (disliked / "album/a.flac").read_bytes()
    dislike(disliked, warned=25)
    cleanup_sweep()
    put(disliked, "album/a.flac", content)
    put(disliked, "copied.flac", content)

    result = rescan(disliked)

    assert (result["new"], result["unwanted"]) == (0, 2)
    assert sorted(states(disliked)) == ["album/b.flac", "album/c.flac"]


def test_another_recording_at_the_same_path_is_welcome(disliked, told):
    dislike(disliked, warned=25)
    cleanup_sweep()
    song(disliked, "album/a.flac", title="Another")

    assert rescan(disliked)["new"] == 1


def test_nobody_dislikes_a_track_twice(disliked):
    dislike(disliked)

    with pytest.raises(psycopg2.errors.UniqueViolation):
        dislike(disliked)
