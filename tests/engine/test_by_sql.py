"""Jobs that come by INSERT or enqueue_job follow the same rules as those that code sends."""

from __future__ import annotations

import threading

import dramatiq
import psycopg2
import pytest

from jobbko import store
from jobbko.testing.worker import until, working
from tests.engine.conftest import WAITING, all_are, rows, statuses


@pytest.fixture
def build(broker):
    """A job of which one at a time is enough, which runs until it is let go."""
    go = threading.Event()

    @dramatiq.actor(dedupe="until_done")
    def build(n=0):
        go.wait(10)

    broker.job_types.publish()
    build.go = go
    return build


def test_while_one_runs_an_equal_one_is_not_added_and_its_id_is_the_answer(broker, build):
    first = store.value("select enqueue_job('build')")
    with working(broker):
        until(lambda: all_are("running"))
        assert store.value("select enqueue_job('build')") == first
        with pytest.raises(psycopg2.errors.UniqueViolation):
            store.run("insert into job_queue (job_type) values ('build')")
        store.run("insert into job_queue (job_type) values ('build') on conflict do nothing")
        assert store.value("select enqueue_job('build', '{\"n\": 1}')") != first
        build.send()
        assert len(rows()) == 2
        build.go.set()
        until(lambda: all_are("completed"))
        assert store.value("select enqueue_job('build')") != first
        until(lambda: statuses() == ["completed"] * 3)


def test_an_equal_one_that_starts_at_this_very_moment_is_found(broker, build, database):
    first = store.value("select enqueue_job('build')")
    other, answer = psycopg2.connect(database), []
    with other.cursor() as cursor:
        cursor.execute("update job_queue set state = 'consumed', lease_token = gen_random_uuid()")  # not committed yet
    asking = threading.Thread(target=lambda: answer.append(store.value("select enqueue_job('build')")))
    asking.start()
    until(lambda: store.value(WAITING) == 1)
    other.commit()
    other.close()
    asking.join(10)
    assert answer == [first]


def test_a_job_sent_while_its_subject_is_being_held_does_not_start(broker, database):
    @dramatiq.actor
    def read(n):
        pass

    broker.job_types.publish()
    sender = psycopg2.connect(database)
    with sender.cursor() as cursor:
        cursor.execute("insert into job_queue (job_type, payload, subject) values ('read', '{\"n\": 1}', 'page:1')")
        assert store.value("select hold_jobs('page:1')") == 0  # it cannot be seen yet
    sender.commit()
    sender.close()
    read.send(2)
    with working(broker):
        until(lambda: statuses() == ["pending", "completed"])
        until(lambda: store.rows("select held, due from job_queue where status = 'pending'") == [(True, False)])
        assert store.value("select release_jobs('page:1')") == 1
        until(lambda: all_are("completed"))


@pytest.mark.parametrize("gates", ["{a+b}", "{type:read}", '{""}', "{llm,collection:x}", "{all}"])
def test_gates_that_nobody_could_close_alone_are_refused(broker, build, gates):
    with pytest.raises(psycopg2.errors.InvalidParameterValue, match="gates of build cannot be"):
        store.run("insert into job_queue (job_type, gates) values ('build', %(gates)s)", gates=gates)
    store.run("insert into job_queue (job_type, gates) values ('build', '{llm,library:x}')")
    assert store.value("select lane from job_queue") == "llm+library:x"
