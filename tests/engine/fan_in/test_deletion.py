"""Branches, collections and fan-ins that are deleted hold nobody back and leave nothing over."""

from __future__ import annotations

import pytest
from dramatiq import group

from jobbko import store
from jobbko.engine.fan_in import with_fan_in
from jobbko.store.retention import prune
from jobbko.testing.worker import until, working
from tests.engine.conftest import rows, statuses
from tests.engine.fan_in.conftest import done_reading, photos


@pytest.fixture
def other_collection(broker):
    return str(store.value("insert into nodes (kind, title) values ('collection', 'Other') returning id"))


def test_a_deleted_branch_does_not_hold_it_back(broker, board):
    photos(board, range(3)).run()
    store.run("delete from job_queue where payload ->> 'n' = '1'")
    with working(broker):
        until(lambda: board.written == ["page"])
    assert store.rows("select count(*), count(*) filter (where not done) from flow_arrival") == [(3, 1)]


def test_a_branch_whose_collection_is_deleted_does_not_hold_it_back(broker, board, other_collection):
    step = group([board.read.message(1), board.read.message_with_options(args=(2,), collection=other_collection)])
    step.add_completion_callback(board.writeup.message("page"))
    step.run()
    store.run("delete from nodes where id = %(id)s", id=other_collection)
    with working(broker):
        until(lambda: board.written == ["page"])


def test_a_collection_can_be_deleted_with_its_whole_fan_in(broker, board, other_collection):
    step = group([board.read.message_with_options(args=(n,), collection=other_collection) for n in range(3)])
    step.add_completion_callback(board.writeup.message("page"))
    step.run()
    assert store.run("delete from nodes where id = %(id)s", id=other_collection) == 1
    assert rows() == []


def test_deleting_many_branches_counts_their_fan_in_once(broker, board):
    broker.job_types.publish()
    store.run(
        "with opened as (insert into flow_barrier (id, branches)"
        "  select gen_random_uuid(), 5000 from generate_series(1, 2) returning id)"
        " insert into job_queue (id, job_type, payload, barrier, branch)"
        " select branch, 'read', jsonb_build_object('n', 1), opened.id, branch"
        "  from opened, lateral (select gen_random_uuid() as branch from generate_series(1, 5000)"
        "                         where opened.id is not null) branches"
    )
    assert store.run("delete from job_queue") == 10_000
    assert store.value("select count(*) from flow_barrier where fired_at is not null") == 2


def test_a_finished_branch_that_is_purged_has_arrived_once(broker, board):
    board.bad = {1}
    photos(board, range(2), fan_in="done").run()
    with working(broker):
        until(done_reading)
    before = store.rows("select branch, done from flow_arrival order by 1")
    store.run("delete from job_queue")
    assert store.rows("select branch, done from flow_arrival order by 1") == before
    assert board.written == []


def test_a_barrier_that_nobody_can_arrive_at_is_pruned(broker, board):
    board.bad = {1}
    photos(board, [1], fan_in="done").run()
    with working(broker):
        until(lambda: statuses() == ["error"])
    (waiting,) = store.rows("select id from flow_barrier")
    list(with_fan_in(photos(board, [2])))  # asked for, and never sent
    prune(0)
    assert store.rows("select id from flow_barrier") == [waiting]
