"""When all branches are done or dead, what follows is sent, once."""

from __future__ import annotations

import dramatiq
from dramatiq import group

from jobbko import settings, store
from jobbko.engine.leases import sweep
from jobbko.testing.worker import until, working
from tests.engine.conftest import rows, statuses
from tests.engine.fan_in.conftest import done_reading, photos


def test_it_follows_once_when_all_are_done(broker, board):
    photos(board, range(20)).run()
    with working(broker, threads=4):
        until(lambda: board.written == ["page"])
        until(lambda: set(statuses()) == {"completed"})
    assert store.value("select count(*) from job_queue where job_type = 'writeup'") == 1


def test_a_dead_branch_does_not_hold_it_back(broker, board):
    # Bogdanp/dramatiq#868; taskforcesh/bullmq#3122; celery/celery#5237
    board.bad = {1, 2}
    photos(board, range(4)).run()
    with working(broker):
        until(lambda: board.written == ["page"])
    assert sorted(statuses()) == ["completed"] * 3 + ["error"] * 2


def test_a_callback_that_wants_all_done_waits_for_the_requeued_ones(broker, board):
    board.bad = {1}
    photos(board, range(3), fan_in="done").run()
    with working(broker):
        until(done_reading)
        assert board.written == []
        board.bad = set()
        store.run("select retry_job(id) from job_queue where status = 'error'")
        until(lambda: board.written == ["page"])


def test_requeueing_a_dead_branch_afterwards_does_not_send_it_again(broker, board):
    board.bad = {1}
    photos(board, range(3)).run()
    with working(broker):
        until(lambda: board.written == ["page"])
        board.bad = set()
        store.run("select retry_job(id) from job_queue where status = 'error'")
        until(lambda: set(statuses()) == {"completed"})
    assert board.written == ["page"]


def test_a_branch_may_be_a_pipeline_and_ends_with_its_last_or_a_dead_step(broker, board):
    board.bad = {2}
    step = group([board.fetch.message(n) | board.read.message() for n in range(4)])
    step.add_completion_callback(board.writeup.message("page"))
    step.run()
    with working(broker):
        until(lambda: board.written == ["page"])
    assert [row.status for row in rows("job_type = 'read'")].count("error") == 1


def test_a_cancelled_branch_and_one_whose_worker_died_count(broker, board, monkeypatch):
    monkeypatch.setattr(settings, "LEASE", 0.2)  # shorter than the test's server is old
    photos(board, range(3)).run()
    first, second, _ = rows("job_type = 'read'")
    store.run("select cancel_job(%(id)s)", id=first.id)
    store.run(
        "update job_queue set state = 'consumed', lease_token = gen_random_uuid(), started_at = clock_timestamp(),"
        " attempts = 4, lease_until = clock_timestamp() - interval '1 second', worker = gen_random_uuid()"
        " where id = %(id)s",
        id=second.id,
    )
    assert sweep() == 1
    with working(broker):
        until(lambda: board.written == ["page"])
    assert sorted(row.status for row in rows("job_type = 'read'")) == ["cancelled", "completed", "error"]


def test_what_follows_belongs_to_the_flow(broker, board):
    photos(board, range(2)).run()
    with working(broker):
        until(lambda: board.written == ["page"])
    (writeup,) = rows("job_type = 'writeup'")
    assert writeup.step == 2
    assert writeup.flow_id in {row.flow_id for row in rows("job_type = 'read'")}
    assert writeup.payload == {"page": "page"}


def test_a_rule_may_give_back_a_group_with_a_callback(broker, board):
    @dramatiq.actor
    def scan():
        return 3

    @broker.follows(scan)
    def each(count):
        yield photos(board, range(count))

    scan.send()
    with working(broker):
        until(lambda: board.written == ["page"])
    assert len({row.flow_id for row in rows()}) == 1


def test_a_branch_that_equals_a_waiting_job_or_another_branch_runs_all_the_same(broker, board):
    @dramatiq.actor(dedupe=True)
    def index(n):
        pass

    index.send(1)
    step = group([index.message(1), index.message(2), index.message(2)])
    step.add_completion_callback(board.writeup.message("page"))
    step.run()
    with working(broker):
        until(lambda: board.written == ["page"])
    assert len(rows("job_type = 'index'")) == 4


def test_a_stronger_job_takes_the_place_of_neither_a_branch_nor_a_flow(broker, board):
    branch = board.fetch.message_with_options(args=(1,), dedupe_key="branch")
    step = group([branch | board.read.message(), board.read.message(2)])
    step.add_completion_callback(board.writeup.message("page"))
    step.run()
    flow = board.fetch.message_with_options(args=(2,), dedupe_key="flow")
    (flow | board.writeup.message()).run()
    for key in ("branch", "flow"):
        board.fetch.send_with_options(args=(9,), dedupe_key=key, rank=5, debounce=True)
    with working(broker):
        until(lambda: set(statuses()) == {"completed"})
        until(lambda: sorted(map(str, board.written)) == ["2", "page"])


def test_a_callback_keeps_its_options_and_its_place_in_the_flow(broker, board):
    followed = []

    @broker.follows(board.writeup)
    def rule(result):
        followed.append(result)
        return ()

    wanted = {"priority": 10, "max_attempts": 1, "subject": "page:1", "dedupe_key": "key"}
    photos(board, range(2), **wanted).run()
    with working(broker):
        until(lambda: set(statuses()) == {"completed"} and board.written == ["page"])
    (found,) = store.rows(
        "select priority, max_attempts, subject, dedupe_key, in_flow from job_queue where job_type = 'writeup'"
    )
    assert found == (*wanted.values(), True)
    assert followed == []


def test_a_requeued_branch_is_waited_for_again(broker, board):
    photos(board, range(2)).run()
    first, _ = rows("job_type = 'read'")
    assert store.value("select cancel_job(%(id)s)", id=first.id) is True
    later = "update job_queue set due = false, scheduled_for = clock_timestamp() + interval '1 hour' where id = %(id)s"
    store.run("select retry_job(%(id)s)", id=first.id)
    store.run(later, id=first.id)
    with working(broker):
        until(lambda: statuses() == ["pending", "completed"])
        store.run("select run_job_now(%(id)s)", id=first.id)
        until(lambda: board.written == ["page"])
    assert store.value("select bool_and(done) from flow_arrival") is True
