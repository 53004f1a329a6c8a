"""Limits on what runs at once, over all workers and per collection."""

from __future__ import annotations

import threading
import uuid

import dramatiq
import pytest

from jobbko import settings, store
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are


@pytest.mark.parametrize("threads", [1, 4])
def test_a_limit_holds_over_all_workers(broker, threads):
    # rails/solid_queue#456, #694: not above the limit, and not below it while there is work.
    running, most, lock = set(), [], threading.Lock()

    @dramatiq.actor(max_running=2)
    def work(n):
        with lock:
            running.add(n)
            most.append(len(running))
        threading.Event().wait(0.01)
        with lock:
            running.discard(n)

    broker.enqueue_many(work.message(n) for n in range(40))
    with working(broker, threads=threads):
        until(lambda: len(most) == 40, timeout=20)

    assert max(most) == min(2, threads)


def test_one_collection_may_run_only_so_many_at_once_and_the_others_go_on(broker):
    ids = [str(uuid.uuid4()) for _ in range(3)]
    for id in ids:
        store.run("insert into nodes (id, kind) values (%(id)s, 'collection')", id=id)
    running, most, lock = dict.fromkeys(ids, 0), dict.fromkeys(ids, 0), threading.Lock()
    together = [0]

    @dramatiq.actor(max_running_per_collection=1)
    def work(owner):
        with lock:
            running[owner] += 1
            most[owner] = max(most[owner], running[owner])
            together[0] = max(together[0], sum(running.values()))
        threading.Event().wait(0.02)
        with lock:
            running[owner] -= 1

    for id in ids:
        broker.enqueue_many(work.message_with_options(args=(id,), collection=id) for _ in range(15))
    with working(broker, threads=6):
        until(lambda: all_are("completed"), timeout=20)

    assert set(most.values()) == {1}
    assert together[0] == 3


def test_a_limit_is_counted_from_live_leases_and_free_again_when_they_run_out(broker):
    # rails/solid_queue#689, #761: no counter that could drift.
    ran = []

    @dramatiq.actor(max_running=1)
    def work(n):
        ran.append(n)

    broker.job_types.publish()
    work.send("left behind")
    store.run(
        "update job_queue set state = 'consumed', lease_token = gen_random_uuid(), started_at = clock_timestamp(),"
        " lease_until = clock_timestamp() + interval '1.5 s', worker = gen_random_uuid()"
    )
    work.send("next")
    with working(broker), pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "LEASE", 0.3)
        threading.Event().wait(0.5)
        assert ran == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "LEASE", 0.3)
        with working(broker):
            until(lambda: sorted(ran) == ["left behind", "next"], timeout=20)
