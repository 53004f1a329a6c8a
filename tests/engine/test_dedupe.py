"""Equal jobs: at most one waits, a later trigger moves it, a stronger reason takes its place."""

from __future__ import annotations

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import dramatiq
import psycopg2
import pytest

from jobbko import store
from jobbko.store import queue
from jobbko.testing.worker import until, working
from tests.engine.conftest import WAITING, all_are, rows, statuses

PAGE = {"dedupe_key": "page:1", "debounce": True}


@pytest.fixture
def jobs(broker):
    """The notebook's: ranks as its document has them, one key for a page."""

    @dramatiq.actor
    def enrich(page, reason):
        pass

    @dramatiq.actor(priority=7)
    def writeup(page):
        pass

    return {"enrich": enrich, "writeup": writeup}


def trigger(jobs, reason, rank, delay=0):
    jobs["enrich"].send_with_options(args=(1, reason), rank=rank, delay=delay, **PAGE)


def waiting():
    """(job type, reason, seconds until it is due) of the one that waits."""
    ((job_type, reason, seconds),) = store.rows(
        "select job_type, payload->>'reason', extract(epoch from scheduled_for - clock_timestamp()) from job_queue"
    )
    return job_type, reason, round(float(seconds))


def test_each_save_moves_the_waiting_job(jobs):
    trigger(jobs, "save", rank=3, delay=60_000)
    store.run("update job_queue set scheduled_for = scheduled_for - interval '50 seconds'")
    trigger(jobs, "save", rank=3, delay=60_000)
    assert waiting() == ("enrich", "save", 60)


def test_a_stronger_reason_takes_the_place_of_a_weaker_one(jobs):
    trigger(jobs, "save", rank=3, delay=60_000)
    trigger(jobs, "ask", rank=5)
    assert waiting() == ("enrich", "ask", 0)

    jobs["writeup"].send_with_options(args=(1,), rank=6, **PAGE)
    assert waiting() == ("writeup", None, 0)
    assert rows()[0].priority == 7
    assert rows()[0].payload == {"page": 1}


def test_a_weaker_reason_neither_replaces_nor_delays_a_stronger_one(jobs):
    trigger(jobs, "ask", rank=5)
    trigger(jobs, "save", rank=3, delay=60_000)
    assert waiting() == ("enrich", "ask", 0)


def test_a_weaker_reason_can_only_make_it_earlier(jobs):
    trigger(jobs, "ask", rank=5, delay=90_000)
    trigger(jobs, "save", rank=3, delay=60_000)
    assert waiting() == ("enrich", "ask", 60)


def test_without_debounce_the_waiting_job_is_left_alone(broker):
    @dramatiq.actor(dedupe=True)
    def work(n):
        pass

    work.send_with_options(args=(1,), delay=60_000)
    work.send(1)
    assert store.value("select due from job_queue") is False


def test_equal_jobs_in_one_batch_become_one(jobs, broker):
    broker.enqueue_many(
        jobs["enrich"].message_with_options(args=(1, reason), rank=rank, **PAGE)
        for reason, rank in (("save", 3), ("ask", 5), ("backfill", 1))
    )
    assert waiting() == ("enrich", "ask", 0)


def test_one_equal_job_in_a_batch_holds_none_of_the_others_up(jobs, broker):
    # oban-bg/oban#1416; oban-bg/oban-py#19: one conflict stopped the whole batch, and every queue with it.
    trigger(jobs, "save", rank=3)
    broker.enqueue_many(
        jobs["enrich"].message_with_options(args=(n, "save"), rank=3, dedupe_key=f"page:{n}") for n in range(1, 4)
    )
    assert store.value("select count(*) from job_queue") == 3


def test_another_collection_has_equal_jobs_of_its_own(jobs):
    other = str(uuid.uuid4())
    store.run("insert into nodes (id, kind) values (%(id)s, 'collection')", id=other)
    trigger(jobs, "save", rank=3)
    jobs["enrich"].send_with_options(args=(1, "save"), rank=3, collection=other, **PAGE)
    assert len(rows()) == 2


def test_until_start_lets_a_second_one_wait_while_the_first_runs(broker):
    started, go_on = threading.Event(), threading.Event()

    @dramatiq.actor(dedupe=True)
    def work(n):
        started.set()
        go_on.wait(10)

    first = work.send(1)
    with working(broker, threads=1):
        assert started.wait(5)
        assert work.send(1).message_id != first.message_id
        go_on.set()
        until(lambda: statuses() == ["completed"] * 2)


def test_until_done_does_not(broker):
    # procrastinate-org/procrastinate#1050
    started, go_on, ran = threading.Event(), threading.Event(), []

    @dramatiq.actor(dedupe="until_done")
    def work(n):
        ran.append(n)
        started.set()
        go_on.wait(10)

    first = work.send(1)
    with working(broker, threads=2):
        assert started.wait(5)
        assert work.send(1).message_id == first.message_id
        go_on.set()
        until(lambda: all_are("completed"))
        work.send(1)
        until(lambda: ran == [1, 1])


def test_until_done_holds_when_many_send_while_it_is_claimed_and_done(broker):
    running, most, lock = [0], [0], threading.Lock()

    @dramatiq.actor(dedupe="until_done")
    def work(n):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        threading.Event().wait(0.005)
        with lock:
            running[0] -= 1

    with working(broker, threads=4), ThreadPoolExecutor(4) as threads:
        for sent in [threads.submit(work.send, 1) for _ in range(200)]:
            sent.result()
        until(lambda: all_are("completed"))
    assert most == [1]


def test_an_equal_job_that_was_rolled_back_holds_nobody_up(jobs, broker, database):
    # oban-bg/oban#1087, #1093: the insert waits for the other's commit; after its rollback it goes in.
    other = psycopg2.connect(database)
    with store.using(other):
        trigger(jobs, "save", rank=3)
    waits = threading.Thread(target=trigger, args=(jobs, "save", 3))
    waits.start()
    until(lambda: store.value(WAITING) == 1)
    other.rollback()
    waits.join(10)
    other.close()
    assert len(rows()) == 1


def test_a_stronger_reason_does_not_inherit_the_failures_of_the_old_one(jobs):
    trigger(jobs, "save", rank=3)
    store.run("update job_queue set attempts = 2")
    trigger(jobs, "ask", rank=5)
    assert rows()[0].attempts == 0


def test_a_unique_key_is_free_again_when_its_worker_died(broker):
    # zoolutions/sidekiq-unique-jobs#955; graphile/worker#254: the row is the lock, there is nothing to leak.
    @dramatiq.actor(dedupe="until_done", max_attempts=1)
    def work(n):
        pass

    work.send(1)
    store.run(
        "update job_queue set state = 'consumed', lease_token = gen_random_uuid(), started_at = clock_timestamp(),"
        " lease_until = clock_timestamp(), worker = gen_random_uuid()"
    )
    # A lease of no length: one that began before the server did would not be charged, and this one may be very young.
    assert queue.sweep([row.id for row in rows()], lease=0, backoff=30) == 1
    work.send(1)
    assert statuses() == ["error", "pending"]


def test_a_trigger_is_not_lost_when_the_equal_job_could_start_before_its_commit(broker):
    seen, version = [], "select max_running from job_limit where name = 'version'"
    store.run("insert into job_limit (name, max_running) values ('version', 0)")

    @dramatiq.actor(dedupe=True)
    def index():
        seen.append(store.value(version))

    index.send()
    with working(broker), store.transaction():
        store.run("update job_limit set max_running = 1 where name = 'version'")
        index.send()
        threading.Event().wait(0.5)  # a worker would like to run the first one now
    with working(broker):
        until(lambda: all_are("completed"))
    assert seen[-1] == 1
