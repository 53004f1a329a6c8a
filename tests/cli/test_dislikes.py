"""`jobbko dislikes`."""

import json

import pytest

from jobbko import settings, store
from jobbko.store import dislikes
from tests.actors.music.disliking import dislike, like
from tests.actors.music.scanning import counted, rescan, song


@pytest.fixture
def disliked(database, tmp_path):
    for name in ("a", "b"):
        song(tmp_path, f"album/{name}.flac", title=name.upper(), artist="Somebody")
    rescan(tmp_path)
    return dislike(tmp_path, "a", hours=40), dislike(tmp_path, "b", hours=60, warned=12), tmp_path


def test_says_what_goes_when(run, disliked, monkeypatch):
    monkeypatch.setattr(settings, "NOTIFY_URL", "https://ntfy.sh/x")
    said = run("dislikes")
    for part in ("notice in 8h", "deletion in 12h", "Somebody – A", "to be deleted", disliked[0][:8]):
        assert part in said

    first, second = json.loads(run("dislikes", "--json"))["dislikes"]
    assert (first["state"], second["state"]) == ("hidden", "warned")


def test_says_that_without_a_receiver_nothing_goes(run, disliked, monkeypatch):
    monkeypatch.setattr(settings, "NOTIFY_URL", "")
    assert "JOBBKO_NOTIFY_URL is not set" in run("dislikes")


def test_what_is_liked_or_could_not_be_deleted_says_why(run, disliked):
    like(disliked[2], "a")
    store.run("update dislikes set state = 'kept' where id = %(id)s", id=disliked[0])
    store.run("update dislikes set error = 'Read-only file system' where id = %(id)s", id=disliked[1])

    said = run("dislikes")

    assert "somebody likes it" in said
    assert "Read-only" in said


def test_undo_takes_one_back(run, disliked):
    assert "album/b.flac stays." in run("dislikes", "--undo", disliked[1][:8])
    assert [each["id"] for each in json.loads(run("dislikes", "--json"))["dislikes"]] == [disliked[0]]


@pytest.mark.parametrize("id", ["", "zz"])
def test_undoing_what_is_not_there_is_told(complaint, disliked, id):
    assert "No dislikes begin with" in complaint("dislikes", "--undo", id, code=3)


def test_nobody_dislikes_anything(run):
    assert run("dislikes") == "Nobody dislikes anything.\n"


@pytest.fixture
def buried(disliked):
    dislikes.bury(store.value("select track_id from dislikes where id = %(id)s", id=disliked[1]), "/trash/b.flac")
    return str(store.value("select id from track_tombstones"))


def test_what_was_deleted_is_listed_with_where_it_is(run, buried):
    said = run("dislikes", "--deleted")
    for part in (buried[:8], "Somebody – B", "/trash/b.flac"):
        assert part in said
    assert [each["id"] for each in json.loads(run("dislikes", "--deleted", "--json"))["deleted"]] == [buried]


def test_what_was_deleted_can_be_taken_back(run, buried, disliked):
    root = disliked[2]
    assert rescan(root)["unwanted"] == 1

    assert "its file is /trash/b.flac" in run("dislikes", "--undo", buried[:8])

    assert counted(rescan(root)) == {"new": 1, "unchanged": 1}
    assert run("dislikes", "--deleted") == "Nothing was deleted.\n"
