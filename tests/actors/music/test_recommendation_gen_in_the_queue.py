"""Batches made by workers, and what happens when two are at the same session."""

from concurrent.futures import ThreadPoolExecutor

import psycopg2
import pytest

import actors.music.recommendation_gen as job
from actors.music.recommendation_gen import recommendation_gen
from broker import broker
from jobbko import store
from jobbko.testing import drain, working
from jobbko.testing.worker import until
from tests.actors.music.listening import add, batches, node, play, start, stats

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def ids(database):
    """25 tracks of a collection, in a database where workers have published their jobs."""
    broker.job_types.publish()
    collection = node()
    return [add(collection, str(number)) for number in range(25)]


@pytest.fixture
def session(ids):
    return start(store.value("select collection_node_id from tracks limit 1"))


def offered():
    return [id for (id,) in store.rows("select track_id::text from vibe_batch_item")]


def test_a_session_gets_its_batch_and_the_next_when_its_listener_goes_her_own_way(ids, session):
    drain(broker)
    play(session, next(id for id in ids if id not in offered()))
    drain(broker)

    assert [(trigger, seq) for trigger, seq, _ in batches(session)] == [
        ("session_start", 1),
        ("playback_completed", 1),
    ]
    assert store.rows("select status::text, result ->> 'tracks' from job_queue order by seq") == [
        ("completed", "10"),
        ("completed", "10"),
    ]


def test_a_job_of_another_collection_learns_nothing_of_a_session_and_writes_nothing(session):
    store.run("delete from job_queue")
    recommendation_gen.send_with_options(args=(session, "session_start"), collection=node("another"))
    drain(broker)

    assert store.rows("select status::text, result from job_queue") == [("completed", None)]
    assert batches(session) == []


def test_a_job_that_fails_after_it_has_chosen_leaves_nothing_and_makes_the_same_batch_later(session, monkeypatch):
    add_batch, seen = job.listening.add_batch, []

    def fails_once(*args, **given):
        made = add_batch(*args, **given)
        seen.append([item["track_id"] for item in given["items"]])
        if len(seen) == 1:
            assert len(offered()) == 10  # written, in a transaction that will not be committed
            raise ZeroDivisionError
        return made

    monkeypatch.setattr(job.listening, "add_batch", fails_once)
    with working(broker):
        until(lambda: store.value("select status::text from job_queue") == "retry")
        assert offered() == []
        store.rows("select run_job_now(id) from job_queue")
        until(lambda: store.value("select status::text from job_queue") == "completed")

    assert seen[0] == seen[1]
    assert [(trigger, seq) for trigger, seq, _ in batches(session)] == [("session_start", 1)]


def test_two_jobs_for_one_session_at_once_offer_nothing_twice(ids, session):
    play(session, ids[0])
    with ThreadPoolExecutor(4) as threads:
        runs = [
            threads.submit(recommendation_gen.fn, session, trigger)
            for trigger in ("session_start", "playback_completed") * 2
        ]
    made = [run.result() for run in runs]

    assert len(offered()) == len(set(offered())) == 10
    assert sum(result["batch"] is not None for result in made) == 1


def test_while_a_batch_is_chosen_what_is_played_can_be_reported(database, ids, session):
    with store.transaction():
        job.listening.locked_session(session)
        with ThreadPoolExecutor(1) as threads:
            threads.submit(play, session, ids[0]).result(timeout=20)

    assert stats(ids[0]) == (1, 0, 0)


def test_reports_of_one_track_at_the_same_time_are_all_counted(database, ids, session):
    one, other = psycopg2.connect(database), psycopg2.connect(database)
    with store.using(one):
        play(session, ids[0])
    with ThreadPoolExecutor(1) as threads:

        def second():
            with store.using(other):
                play(session, ids[0])
            other.commit()

        running = threads.submit(second)
        until(lambda: store.value("select count(*) from pg_locks where not granted") > 0)
        one.commit()
        running.result(timeout=20)
    one.close()
    other.close()

    assert stats(ids[0]) == (2, 0, 0)
