"""What a person may do to the jobs of a flow or of a subject."""

from __future__ import annotations

import dramatiq
import pytest

from jobbko import settings, store
from jobbko.testing.worker import until, working
from tests.engine.conftest import rows, statuses


@pytest.fixture
def read(broker):
    @dramatiq.actor
    def read(n):
        pass

    return read


def test_a_flow_can_be_cancelled_and_gone_on_with(broker, read):
    (read.message(1) | read.message_with_options(args=(2,), pipe_ignore=True)).run()
    (first,) = rows()
    assert store.value("select cancel_flow(%(flow)s)", flow=first.flow_id) == 1
    assert statuses() == ["cancelled"]
    assert store.value("select retry_flow(%(flow)s)", flow=first.flow_id) == 1
    with working(broker):
        until(lambda: statuses() == ["completed", "completed"])


def test_jobs_of_a_subject_are_held_and_released(broker, read):
    read.send_with_options(args=(1,), subject="page:1")
    read.send_with_options(args=(2,), subject="page:2")
    assert store.value("select hold_jobs('page:1')") == 1
    read.send_with_options(args=(3,), subject="page:1")
    with working(broker):
        until(lambda: statuses() == ["pending", "completed", "pending"])
        assert store.value("select release_jobs('page:1')") == 2
        until(lambda: set(statuses()) == {"completed"})


def test_a_job_whose_subject_is_held_while_it_runs_waits_after_its_failure(broker, monkeypatch):
    monkeypatch.setattr(settings, "BACKOFF", 0.01)
    ran = []

    @dramatiq.actor
    def work():
        ran.append(1)
        if len(ran) == 1:
            store.rows("select hold_jobs('page:1')")
            raise ValueError

    work.send_with_options(subject="page:1")
    with working(broker):
        until(lambda: statuses() == ["retry"])
        store.rows("select release_jobs('page:1')")
        until(lambda: statuses() == ["completed"])


def test_a_waiting_job_can_be_made_urgent_or_due(broker, read):
    later = read.send_with_options(args=(1,), delay=86_400_000)
    assert store.value("select run_job_now(%(id)s)", id=later.message_id) is True
    assert store.value("select prioritize_job(%(id)s, 10::smallint)", id=later.message_id) is True
    with working(broker):
        until(lambda: statuses() == ["completed"])
    assert rows()[0].priority == 10
    assert store.value("select run_job_now(%(id)s)", id=later.message_id) is False


def test_enqueue_job_says_which_job_waits(broker, read):
    broker.job_types.publish()
    one = store.value("select enqueue_job('read', '{\"n\": 1}', 10, '1 hour', 'key')")
    same = store.value("select enqueue_job('read', '{\"n\": 2}', dedupe_key => 'key')")
    assert one == same
    assert store.rows("select payload, priority, due from job_queue") == [({"n": 1}, 10, False)]


def test_a_job_that_is_inserted_for_a_held_subject_is_held(broker, read):
    broker.job_types.publish()
    store.rows("select hold_jobs('page:1')")
    store.run("insert into job_queue (job_type, payload, subject) values ('read', '{\"n\": 1}', 'page:1')")
    store.rows("select enqueue_job('read', '{\"n\": 2}', subject => 'page:1')")
    assert store.rows("select held, due from job_queue") == [(True, False)] * 2


def test_a_dead_job_that_is_requeued_follows_what_its_subject_is_now(broker, read):
    held = read.send_with_options(args=(1,), subject="page:1")
    freed = read.send_with_options(args=(2,), subject="page:2")
    store.rows("select hold_jobs('page:2')")
    store.rows("select cancel_job(id) from job_queue")
    store.rows("select hold_jobs('page:1'), release_jobs('page:2')")
    store.rows("select retry_job(id) from job_queue")
    with working(broker):
        until(lambda: rows("id = %(id)s", id=freed.message_id)[0].status == "completed")
    assert store.rows("select held, due from job_queue where id = %(id)s", id=held.message_id) == [(True, False)]
    assert store.value("select release_jobs('page:1')") == 1


def test_a_lease_that_is_given_back_or_cut_off_is_held_with_its_subject(broker, read):
    read.send_with_options(args=(1,), subject="page:1")
    store.run("update job_queue set state = 'consumed', lease_token = gen_random_uuid()")
    store.rows("select hold_jobs('page:1')")
    store.run("update job_queue set state = 'queued', lease_token = null")
    assert store.rows("select held, due from job_queue") == [(True, False)]
