"""Finished jobs are kept as long as is set, and no longer."""

from __future__ import annotations

import uuid

import psycopg2
import pytest

from jobbko import settings, store
from jobbko.engine.housekeeping import Housekeeping
from jobbko.store import retention
from jobbko.store.retention import Ages

DAY = 24 * 3600
INSERT = """
insert into job_queue (id, job_type, state, cancelled, mtime, completed_at, priority, max_attempts, lane, flow_id,
                       parent_id, lease_token, lease_until)
select coalesce(%(id)s, gen_random_uuid()), 'work', %(state)s::dramatiq.state, %(cancelled)s,
       now() - make_interval(days => %(days)s), now() - make_interval(days => %(days)s), 5, 5, '', %(flow)s, %(parent)s,
       case when %(state)s = 'consumed' then gen_random_uuid() end,
       case when %(state)s = 'consumed' then now() + interval '1 hour' end
  from generate_series(1, %(many)s)
"""


def add(state, days, *, cancelled=False, many=1, id=None, flow=None, parent=None):
    store.run(
        INSERT,
        state=state,
        days=days,
        cancelled=cancelled,
        many=many,
        id=id,
        flow=flow or str(uuid.uuid4()),
        parent=parent,
    )


def left():
    return dict(store.rows("select status::text, count(*) from job_queue group by 1"))


def tidy():
    rounds = Housekeeping()
    rounds._next = 0
    return rounds.tidy()


def test_completed_and_cancelled_jobs_go_after_thirty_days_and_dead_letters_stay(database):
    for days in (29, 31, 4000):
        add("done", days)
        add("rejected", days, cancelled=True)
        add("rejected", days)
        add("queued", days)
    assert tidy() == 4
    assert left() == {"completed": 1, "cancelled": 1, "error": 3, "pending": 3}


def test_each_kind_has_its_own_setting_and_nought_is_for_ever(database, monkeypatch):
    for days in (2, 8):
        add("done", days)
        add("rejected", days, cancelled=True)
        add("rejected", days)
    monkeypatch.setattr(settings, "KEEP_COMPLETED", 0)
    monkeypatch.setattr(settings, "KEEP_CANCELLED", 7)
    monkeypatch.setattr(settings, "KEEP_DEAD", 1)
    assert retention.by_settings() == Ages(completed=None, cancelled=7 * DAY, dead=DAY)
    assert tidy() == 3
    assert left() == {"completed": 2, "cancelled": 1}


def test_steps_of_a_flow_stay_until_the_flow_is_over(database):
    waiting, running, over = (str(uuid.uuid4()) for _ in range(3))
    for flow, state in ((waiting, "queued"), (running, "consumed"), (over, "done")):
        add("done", 100, id=flow, flow=flow)
        add("done", 99, flow=flow, parent=flow)
        add(state, 98, flow=flow, parent=flow)
    first = str(uuid.uuid4())  # put back by hand after its steps were done
    add("queued", 1, id=first, flow=first)
    add("done", 100, flow=first, parent=first)
    assert tidy() == 3
    assert store.value("select count(*) from job_queue where flow_id = %(flow)s", flow=over) == 0
    assert len(store.rows("select from job_queue")) == 8


def test_attempts_go_with_their_job(database):
    add("done", 31)
    store.run(
        "insert into job_attempt_failed (job_id, attempt, outcome, class)"
        " select id, 1, 'retry', 'timeout' from job_queue"
    )
    tidy()
    assert store.value("select count(*) from job_attempt_failed") == 0


def test_what_somebody_has_locked_is_left_for_the_next_time(database):
    # goauthentik/authentik#19302
    add("done", 31, many=3)
    conn = psycopg2.connect(database)
    with conn.cursor() as cursor:
        cursor.execute("select id from job_queue limit 1 for update")
        assert tidy() == 2
    conn.rollback()  # closing alone is not waited for
    conn.close()
    assert tidy() == 1


def test_many_go_in_small_batches_and_not_all_at_once(database, monkeypatch):
    add("done", 31, many=1200)
    assert retention.purge(Ages(completed=DAY)) == 500
    rounds = Housekeeping()
    rounds._next = 0
    monkeypatch.setattr(settings, "LEASE", 0)  # no time at all: one batch, and the rest with the next call
    assert rounds.tidy() == 500
    assert rounds.tidy() == 200
    assert rounds.tidy() == 0
    assert left() == {}


def test_nothing_happens_before_it_is_time(database):
    add("done", 31)
    assert Housekeeping().tidy() == 0


def test_finding_what_may_go_walks_over_nothing_that_stays(database):
    add("rejected", 4000, many=20_000)  # dead letters, kept for ever
    add("done", 1, many=5_000)
    add("done", 31, many=10)
    store.run("analyze job_queue")
    before = reads()
    assert retention.purge(Ages(completed=30 * DAY, cancelled=30 * DAY)) == 10
    assert reads() - before < 200


def test_a_large_flow_that_is_over_is_no_slower_to_find(database):
    flow = str(uuid.uuid4())
    add("done", 31, many=5_000, flow=flow, parent=flow)
    store.run("analyze job_queue")
    before = reads()
    assert retention.purge(Ages(completed=30 * DAY)) == 500
    assert reads() - before < 5_000  # not each step for each step


def reads():
    store.run("select pg_stat_force_next_flush()")
    return store.value(
        "select idx_tup_fetch + seq_tup_read from pg_stat_user_tables where relname = 'job_queue'",
    )


@pytest.mark.usefixtures("database")
def test_rows_that_tell_of_old_things_go_too():
    store.run(
        "insert into worker (id, host, pid, threads, job_types, heartbeat_at, stopped_at) values"
        " (gen_random_uuid(), 'old', 1, 1, '{}', now() - interval '9 days', now() - interval '8 days'),"
        " (gen_random_uuid(), 'killed', 1, 1, '{}', now() - interval '9 days', null),"
        " (gen_random_uuid(), 'new', 1, 1, '{}', now(), null)"
    )
    store.run("insert into schedule (name, cron, timezone, first_seen_at) values ('nightly', '@daily', 'UTC', now())")
    store.run(
        "insert into schedule_tick (schedule, tick_at) select 'nightly', now() - day * interval '1 day'"
        " from generate_series(40, 60) day"
    )
    store.run("insert into queue_event (at, gate, event) values (now() - interval '31 days', 'llm', 'opened')")
    store.run("insert into queue_event (gate, event) values ('llm', 'closed')")
    tidy()
    assert store.rows("select host from worker") == [("new",)]
    assert store.rows("select now()::date - tick_at::date from schedule_tick") == [(40,)]  # it says what has been sent
    assert store.rows("select event from queue_event") == [("closed",)]
