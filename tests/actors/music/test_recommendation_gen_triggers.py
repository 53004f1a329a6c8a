"""What starts the job: an application that reports what is listened to, as the role that an API has."""

import contextlib
import uuid

import psycopg2
import pytest

from broker import broker
from jobbko import store
from tests.actors.music.listening import KARI, OLA, add, batches, node, picks, play, recommend, start, stats, waiting

pytestmark = pytest.mark.usefixtures("tx")


@pytest.fixture
def collection(tx):
    """One with three tracks, in a database where workers have published their jobs."""
    broker.job_types.publish()
    collection = node()
    for title in ("one", "two", "three"):
        add(collection, title)
    for user, role in ((KARI, "viewer"), (OLA, "admin")):
        store.run("insert into node_access (node_id, user_id, role) values (%(id)s, %(user)s, %(role)s)",
                  id=collection, user=user, role=role)  # fmt: skip
    return collection


def tracks(collection):
    found = store.rows("select id::text from tracks where collection_node_id = %(id)s order by title", id=collection)
    return [id for (id,) in found]


@contextlib.contextmanager
def as_user(user):
    store.run("set local role jobbko_api")
    store.rows("select set_config('jobbko.user_id', %(user)s, true)", user=user)
    yield
    store.run("reset role")


def refused(statement, **params):
    with pytest.raises(psycopg2.errors.InsufficientPrivilege), store.transaction():
        store.run(statement, **params)


def test_a_session_that_starts_sends_the_job_into_its_collection(collection):
    session = start(collection)

    assert waiting() == [{"listening_session_id": session, "trigger": "session_start"}]
    assert store.rows("select collection_node_id::text, priority from job_queue") == [(collection, 1)]


def test_ten_tracks_in_a_row_make_one_waiting_job_for_each_session(collection):
    sessions = [start(collection), start(collection, OLA)]
    store.run("delete from job_queue")
    for session in sessions:
        for _ in range(10):
            play(session, tracks(collection)[0])

    assert sorted(waiting(), key=str) == sorted(
        [{"listening_session_id": session, "trigger": "playback_completed"} for session in sessions], key=str
    )


def test_only_a_track_that_was_played_to_the_end_sends_it_when_that_is_first_said(collection):
    session = start(collection)
    store.run("delete from job_queue")
    one, two, _ = tracks(collection)
    play(session, one, skipped=3000)
    event = play(session, two, completed=False)
    assert waiting() == []

    store.run("update playback_event set completed = true where id = %(id)s", id=event)
    assert [payload["trigger"] for payload in waiting()] == ["playback_completed"]
    store.run("delete from job_queue")
    store.run("update playback_event set completed = true, played_ms = 5 where id = %(id)s", id=event)
    assert waiting() == []


def test_a_report_that_is_repeated_counts_once(collection):
    session, track = start(collection), tracks(collection)[0]
    id = str(uuid.uuid4())
    for _ in range(3):
        play(session, track, id=id)

    assert stats(track) == (1, 0, 0)


def test_what_is_counted_follows_what_becomes_of_the_events(collection):
    session, track = start(collection), tracks(collection)[0]
    play(session, track, skipped=1, days_ago=2)
    event = play(session, track, completed=False, days_ago=1)
    assert stats(track) == (0, 1, 1)

    store.run("update playback_event set completed = true where id = %(id)s", id=event)
    assert stats(track) == (1, 1, 0)
    store.run("delete from listening_session where id = %(id)s", id=session)
    assert stats(track) == (0, 0, 0)
    store.run("delete from tracks where id = %(id)s", id=track)
    assert store.value("select count(*) from play_stats") == 0


def test_without_a_worker_that_knows_the_job_listening_is_written_down_all_the_same(tx):
    store.run("delete from job_type")
    collection = node()
    session = start(collection)
    play(session, add(collection, "one"))

    assert waiting() == []
    assert store.value("select count(*) from playback_event") == 1


def test_the_job_is_sent_with_the_transaction_of_the_report_or_not_at_all(collection):
    with contextlib.suppress(ZeroDivisionError), store.transaction():
        start(collection)
        raise ZeroDivisionError

    assert waiting() == []


def test_a_listener_who_may_only_look_starts_the_job_and_reads_her_batch(collection):
    with as_user(KARI):
        session = start(collection)
        play(session, tracks(collection)[0])
        assert store.value("select plays from play_stats") == 1
    (job,) = waiting()
    assert job["trigger"] == "session_start"
    recommend(session)

    with as_user(KARI):
        assert batches(session)[0][:2] == ("session_start", 1)
        assert len(picks(store.value("select id from vibe_batch"))) == 2
        assert store.value("select count(*) from vibe_seed") == 1


def test_a_listener_writes_no_batches_and_no_counts(collection):
    session = start(collection)
    recommend(session)
    with as_user(KARI):
        for table in ("vibe_batch", "vibe_seed", "vibe_batch_item", "play_stats"):
            refused(f"delete from {table}")
            refused(f"update {table} set collection_node_id = collection_node_id")
            refused(f"insert into {table} (collection_node_id) values (%(c)s)", c=collection)
        refused("update playback_event set track_id = track_id")
        refused("insert into job_queue (job_type, payload, collection_node_id) values ('recommendation_gen',"
                ' \'{"listening_session_id": "1", "trigger": "session_start"}\', %(c)s)', c=collection)  # fmt: skip


def test_nobody_listens_in_anothers_name_or_collection(collection):
    theirs = start(collection, OLA)
    other = node()
    with as_user(KARI):
        for whom, where in ((OLA, collection), (KARI, other)):
            refused("insert into listening_session (collection_node_id, user_id) values (%(c)s, %(user)s)",
                    c=where, user=whom)  # fmt: skip
        event = (
            "insert into playback_event (id, collection_node_id, session_id, user_id, track_id)"
            " values (gen_random_uuid(), %(c)s, %(session)s, %(user)s, %(track)s)"
        )
        refused(event, c=collection, session=theirs, user=OLA, track=tracks(collection)[0])
        with pytest.raises(psycopg2.errors.ForeignKeyViolation), store.transaction():
            store.run(event, c=collection, session=theirs, user=KARI, track=tracks(collection)[0])


def test_not_even_an_admin_sees_what_others_listen_to(collection):
    session = start(collection)
    play(session, tracks(collection)[0])
    recommend(session)
    with as_user(OLA):
        for table in (
            *("listening_session", "playback_event", "play_stats"),
            *("vibe_batch", "vibe_seed", "vibe_batch_item"),
        ):
            assert store.value(f"select count(*) from {table}") == 0, table


@pytest.mark.parametrize("what", ["a session's", "a track of"])
def test_an_event_is_of_its_sessions_and_tracks_collection(collection, what):
    other = node()
    track, session = add(other, "theirs"), start(other, KARI)
    crossed = (session, tracks(collection)[0]) if what == "a session's" else (start(collection), track)

    with pytest.raises(psycopg2.errors.ForeignKeyViolation):
        store.run(
            "insert into playback_event (id, collection_node_id, session_id, user_id, track_id)"
            " values (gen_random_uuid(), %(c)s, %(session)s, %(user)s, %(track)s)",
            c=collection, session=crossed[0], user=KARI, track=crossed[1],
        )  # fmt: skip
