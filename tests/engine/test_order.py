"""Which job is next."""

from __future__ import annotations

import threading
import uuid

import dramatiq
import pytest

from jobbko import settings, store
from jobbko.store import queue
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are, statuses


def test_an_urgent_job_behind_a_thousand_others_is_next(broker):
    # Bogdanp/dramatiq#424, #508, #232
    order, gate = [], threading.Event()

    @dramatiq.actor
    def work(n):
        order.append(n)
        gate.wait(10)

    broker.enqueue_many(work.message(n) for n in range(1000))
    with working(broker, threads=1):
        until(lambda: len(order) == 1)
        work.send_with_options(args=("urgent",), priority=10)
        work.send_with_options(args=("high",), priority=7)
        gate.set()
        until(lambda: len(order) > 10, timeout=20)

    assert order[:4] == [0, "urgent", "high", 1]


def test_equal_priority_runs_in_the_order_of_sending(broker):
    order = []

    @dramatiq.actor
    def work(n):
        order.append(n)

    broker.enqueue_many(work.message(n) for n in range(300))
    with working(broker, threads=1):
        until(lambda: len(order) == 300)

    assert order == list(range(300))


def test_each_message_has_its_own_priority(broker):
    order = []

    @dramatiq.actor(priority=1)
    def background(name):
        order.append(name)

    @dramatiq.actor(priority=7)
    def high(name):
        order.append(name)

    background.send("background")
    high.send("high")
    background.send_with_options(args=("raised",), priority=10)
    high.send_with_options(args=("lowered",), priority=-3)
    with working(broker, threads=1):
        until(lambda: len(order) == 4)

    assert order == ["raised", "high", "background", "lowered"]


def test_short_jobs_that_are_claimed_ahead_still_run_by_priority(broker):
    order = []

    @dramatiq.actor
    def work(n, urgent=False):
        order.append(n)
        if n == 300:
            work.send_with_options(args=("urgent",), priority=10)

    broker.enqueue_many(work.message(n) for n in range(2000))
    with working(broker, threads=1):
        until(lambda: len(order) == 2001, timeout=30)

    # One turn may be under way when it is sent; what that turn has claimed runs first.
    assert 300 < order.index("urgent") <= 300 + 2 * 64 + 2


def test_what_was_claimed_ahead_is_given_back_when_the_jobs_turn_out_long(broker):
    # Bogdanp/dramatiq#850: nothing waits in the memory of a busy worker.
    hold = threading.Event()

    @dramatiq.actor
    def work(n):
        if n >= 400:
            hold.wait(20)

    broker.enqueue_many(work.message(n) for n in range(500))
    with working(broker, threads=2):
        until(lambda: statuses().count("completed") >= 400, timeout=20)
        until(lambda: statuses().count("running") == 2, timeout=5)
        assert statuses().count("pending") == 98
        hold.set()
        until(lambda: all_are("completed"), timeout=20)


def test_a_worker_claims_only_for_threads_that_are_idle(broker):
    hold = threading.Event()

    @dramatiq.actor
    def work():
        hold.wait(20)

    broker.enqueue_many(work.message() for _ in range(10))
    with working(broker, threads=3):
        until(lambda: statuses().count("running") == 3)
        assert statuses().count("pending") == 7
        hold.set()
        until(lambda: all_are("completed"))


def test_collections_take_turns(broker):
    big, small = str(uuid.uuid4()), str(uuid.uuid4())
    for id in (big, small):
        store.run("insert into nodes (id, kind) values (%(id)s, 'collection')", id=id)
    order = []

    @dramatiq.actor
    def work(owner):
        order.append(owner)
        threading.Event().wait(0.02)

    broker.enqueue_many(work.message_with_options(args=("big",), collection=big) for _ in range(1000))
    broker.enqueue_many(work.message_with_options(args=("small",), collection=small) for _ in range(3))
    with working(broker, threads=1):
        until(lambda: order.count("small") == 3)

    assert order.count("big") <= 6


def test_a_worker_leaves_alone_what_it_does_not_know(broker):
    # Bogdanp/dramatiq#106, #336; riverqueue/river#1105: a rolling deploy.
    done = []

    @dramatiq.actor
    def known():
        done.append(1)

    broker.enqueue(dramatiq.Message("default", "newer", (), {}, {}))
    known.send()
    with working(broker):
        until(lambda: done == [1])
    assert statuses() == ["pending", "completed"]


def test_a_worker_narrowed_to_some_types_runs_only_those(broker, monkeypatch):
    done = []

    @dramatiq.actor
    def heavy():
        done.append("heavy")

    @dramatiq.actor
    def light():
        done.append("light")

    monkeypatch.setattr(settings, "TYPES", ("light",))
    heavy.send()
    light.send()
    with working(broker):
        until(lambda: done == ["light"])
    assert statuses() == ["pending", "completed"]


def test_jobs_that_need_a_closed_gate_wait_and_hold_up_nobody(broker):
    done = []

    @dramatiq.actor(priority=10, gates=("llm", "whisper"))
    def gated():
        done.append("gated")

    @dramatiq.actor(priority=1)
    def free():
        done.append("free")

    store.run("insert into queue_state (gate, closed, reason) values ('whisper', true, 'manual')")
    gated.send()
    free.send()
    with working(broker):
        until(lambda: done == ["free"])
        store.run("update queue_state set closed = false")
        until(lambda: done == ["free", "gated"])


@pytest.mark.slow
def test_one_job_beside_fifty_thousand_of_another_collection_starts_within_two_claims(broker):
    big, small = str(uuid.uuid4()), str(uuid.uuid4())
    for id in (big, small):
        store.run("insert into nodes (id, kind) values (%(id)s, 'collection')", id=id)

    @dramatiq.actor
    def work():
        pass

    broker.job_types.publish()
    add = (
        "insert into job_queue (job_type, collection_node_id) select 'work', %(id)s from generate_series(1, %(count)s)"
    )
    store.run(add, id=big, count=50_000)
    served, claimed = None, []
    turn = queue.turn([], [], [], ["work"], 8, big, 30, served, False)
    store.run(add, id=small, count=1)
    for _ in range(2):
        turn = queue.turn([], [], [], ["work"], 8, big, 30, turn.served, False)
        claimed += [job.collection for job in turn.jobs]
    assert small in claimed
