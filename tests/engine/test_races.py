"""Two things at once: a release and a sender, a cancel and an end, a sweep and somebody's open transaction."""

from __future__ import annotations

import threading
import time
import uuid

import dramatiq
import psycopg2
import pytest
from dramatiq import group

from jobbko import settings, store
from jobbko.engine import dispatcher, leases
from jobbko.engine.broker import queue
from jobbko.engine.refused import Refused
from jobbko.store.queue import Turn
from jobbko.testing.worker import until, working
from tests.engine.conftest import WAITING, all_are, rows, statuses


@pytest.fixture
def read(broker):
    @dramatiq.actor
    def read(n):
        pass

    broker.job_types.publish()
    return read


def in_a_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    return thread, found


def test_a_job_that_is_just_being_sent_is_released_with_the_others(broker, read, database):
    store.rows("select hold_jobs('page:1')")
    sender = psycopg2.connect(database)
    with sender.cursor() as cursor:
        cursor.execute("insert into job_queue (job_type, payload, subject) values ('read', '{\"n\": 1}', 'page:1')")
        thread, released = in_a_thread(lambda: store.value("select release_jobs('page:1')"))
        until(lambda: store.value(WAITING) == 1)
    sender.commit()
    sender.close()
    thread.join(10)
    assert released == [1]
    with working(broker):
        until(lambda: all_are("completed"))


def test_a_job_is_interrupted_once_and_cleans_up_in_peace(broker):
    cleaned, running = [], threading.Event()

    @dramatiq.actor
    def work():
        try:
            running.set()
            until(lambda: False)
        finally:
            for _ in range(50):
                time.sleep(0.005)
            cleaned.append(1)

    work.send()
    with working(broker) as worker:
        running.wait(10)
        for _ in range(5):
            store.rows("select cancel_job(id) from job_queue")
            store.run("select pg_notify('jobbko_cancel', '')")
        until(lambda: statuses() == ["cancelled"])
        assert cleaned == [1]
        assert all(thread.is_alive() for thread in worker.workers)


def test_a_job_that_is_cancelled_before_it_begins_does_not_begin(broker, monkeypatch):
    monkeypatch.setattr(dispatcher, "LOOK_AHEAD", 1000)  # claim more than there are threads
    monkeypatch.setattr(dispatcher, "STALE", 60)
    go, ran = threading.Event(), []

    @dramatiq.actor
    def work(n):
        ran.append(n)
        go.wait(10)

    for n in range(4):
        work.send(n)
    with working(broker, threads=1):
        until(lambda: len(ran) == 1 and store.value("select count(*) from job_queue where state = 'consumed'") == 4)
        store.rows("select cancel_job(id) from job_queue where payload ->> 'n' <> %(n)s", n=str(ran[0]))
        until(lambda: statuses().count("cancelled") == 3)
        go.set()
        until(lambda: statuses().count("completed") == 1)
    assert len(ran) == 1


def abandon(worker, where="true"):
    store.run(
        "update job_queue set state = 'consumed', lease_token = gen_random_uuid(), started_at = clock_timestamp(),"
        f" lease_until = clock_timestamp(), worker = %(worker)s where {where}",
        worker=worker,
    )


def test_what_a_lost_answer_had_claimed_becomes_one_with_an_equal_that_waits(broker):
    @dramatiq.actor(dedupe=True)
    def index():
        pass

    worker = str(uuid.uuid4())
    index.send()
    abandon(worker)
    index.send()
    assert queue.give_back(worker, []) == 1
    assert sorted(statuses()) == ["cancelled", "pending"]


def test_a_sweep_does_not_wait_for_what_somebody_has_locked(broker, read, database, monkeypatch):
    monkeypatch.setattr(settings, "LEASE", 0)

    @dramatiq.actor(dedupe=True)
    def index():
        pass

    broker.job_types.publish()
    index.send()
    read.send(1)
    abandon(str(uuid.uuid4()))
    other = psycopg2.connect(database)
    with other.cursor() as cursor:  # an equal job, not committed
        cursor.execute("insert into job_queue (job_type) values ('index')")
        keeper = leases.LeaseKeeper(None, None)._connected()
        with store.using(keeper):
            began = time.monotonic()
            assert leases.sweep() == 1  # the other one
            assert time.monotonic() - began < 5
        keeper.close()
    other.rollback()
    other.close()
    assert leases.sweep() == 1


def test_an_end_that_meets_an_equal_job_at_that_very_moment_is_tried_again(tx):
    tried = []

    def write(jobs):
        tried.append(jobs)
        if len(tried) < 3:
            raise psycopg2.errors.UniqueViolation
        return Turn([], set(), None, False, None)

    settled = []
    batch = dispatcher.deque(["job"])
    Refused(write, lambda jobs, lost: settled.extend(jobs)).one_by_one(batch)
    assert (len(tried), settled, list(batch)) == (3, ["job"], [])


def test_cancelling_a_flow_waits_for_a_branch_that_is_just_ending_and_not_the_other_way_round(broker, read, database):
    photos = group([read.message(1), read.message(2)])
    photos.add_completion_callback(read.message(3))
    photos.run()
    flow = rows()[0].flow_id
    store.run("update job_queue set flow_id = %(flow)s, parent_id = gen_random_uuid()", flow=flow)
    branch = psycopg2.connect(database)
    with branch.cursor() as cursor:
        cursor.execute("update job_queue set state = 'consumed' where payload = '{\"n\": 2}'")
        branch.commit()
        cursor.execute("select from job_queue where payload = '{\"n\": 2}' for update")
        thread, cancelled = in_a_thread(lambda: store.value("select cancel_flow(%(flow)s)", flow=flow))
        until(lambda: store.value(WAITING) == 1)
        cursor.execute("update job_queue set state = 'done' where payload = '{\"n\": 2}'")
    branch.commit()
    branch.close()
    thread.join(10)
    assert cancelled == [1]
    assert sorted(statuses()) == ["cancelled", "completed", "pending"]


def test_what_follows_a_group_and_fits_into_no_index_does_not_keep_its_branch_from_ending(broker, read):
    subject = "".join(str(uuid.uuid4()) for _ in range(200))
    photos = group([read.message(1)])
    photos.add_completion_callback(read.message_with_options(args=(2,), subject=subject))
    photos.run()
    with working(broker):
        until(lambda: all_are("completed"))
    assert "exceeds btree" in store.value("select error from flow_barrier")


def test_a_job_that_has_an_equal_at_one_moment_and_none_at_the_next_is_sent(broker, monkeypatch):
    @dramatiq.actor(dedupe=True)
    def index():
        pass

    first = index.send()
    monkeypatch.setattr(queue, "equal_waiting", lambda new: store.run("delete from job_queue") and None)
    second = index.send()  # the first one is gone before its id could be asked for
    assert first.message_id != second.message_id
    assert [row.id for row in rows()] == [second.message_id]


def test_times_that_nobody_could_read_are_refused(broker, read):
    read.send(1)
    for column in ("completed_at", "started_at"):
        with pytest.raises(psycopg2.errors.CheckViolation):
            store.run(f"update job_queue set {column} = '200000-01-01'")
