"""Jobs, rows and services that do what nobody expects: nothing is lost, nothing hangs, nothing false is written."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from datetime import datetime

import dramatiq
import psycopg2
import pytest
from dramatiq.errors import ConnectionError as Unreachable

from jobbko import settings, store
from jobbko.engine import completion
from jobbko.engine.interrupts import Cancelled
from jobbko.engine.signature import PayloadRefused
from jobbko.errors import Charged, GateClosed, Throttled
from jobbko.store import pool, queue
from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are, failures, rows, statuses


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("I cannot say")


def circle():
    found: list[object] = []
    found.append(found)
    return found


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (Mute(), {}),
        (ValueError(), {"retry_when": lambda count, error: 1 / 0}),
        (ValueError(), {"backoff": "1m"}),
        (Charged(Mute(), "kind"), {}),
    ],
    ids=["mute", "retry_when", "backoff", "kind"],
)
def test_a_failure_that_cannot_be_judged_is_a_failure(broker, error, options):
    @dramatiq.actor(**options)
    def work():
        raise error

    work.send()
    with working(broker):
        until(lambda: statuses() == ["retry"])
    assert len(failures()) == 1


@pytest.mark.parametrize("wish", [float("nan"), float("inf"), "soon", -5, 1e15], ids=str)
def test_a_senseless_retry_after_is_an_outage_like_any_other(broker, wish):
    @dramatiq.actor
    def work():
        raise Throttled("service", retry_after=wish)

    work.send()
    with working(broker):
        until(lambda: failures() == [(1, "refunded", "throttled")])
    seconds = store.value("select extract(epoch from resume_at - since) from queue_state")
    assert 0.9 < float(seconds) <= 3600


def test_a_gates_time_without_a_zone_is_utc(broker):
    @dramatiq.actor
    def work():
        raise GateClosed("llm", "credit", datetime(2030, 1, 1))

    work.send()
    with working(broker):
        until(lambda: failures() != [])
    assert str(store.value("select resume_at at time zone 'UTC' from queue_state")) == "2030-01-01 00:00:00"


@pytest.mark.parametrize("result", [10**5000, circle(), Mute()], ids=["digits", "circle", "mute"])
def test_a_result_that_cannot_be_written_is_that_jobs_failure_only(broker, result):
    @dramatiq.actor(max_attempts=1)
    def bad():
        return result

    @dramatiq.actor
    def good(n):
        return n

    bad.send()
    broker.enqueue_many(good.message(n) for n in range(20))
    with working(broker):
        until(lambda: sorted(statuses()) == ["completed"] * 20 + ["error"])
    assert "the result cannot be written" in rows("status = 'error'")[0].error_msg


UNREADABLE = {
    "exponent": '{"n": 1e5000}',
    "brackets": '{"n": ' + "[" * 1500 + "]" * 1500 + "}",
    "digits": '{"n": ' + "9" * 5000 + "}",
}


@pytest.mark.parametrize("payload", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_row_that_python_cannot_read_holds_up_nobody(broker, payload):
    ran = []

    @dramatiq.actor
    def work(n):
        ran.append(n)

    broker.job_types.publish()
    store.run("insert into job_queue (job_type, payload, priority) values ('work', %(p)s, 10)", p=payload)
    for n in range(10):
        work.send(n)
    with working(broker):
        until(lambda: sorted(n for n in ran if isinstance(n, int)) == list(range(10)))
        until(lambda: statuses().count("completed") >= 10 and "running" not in statuses())


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        ("scheduled_for", "'infinity'"),
        ("scheduled_for", "'0100-01-01 BC'"),
        ("created_at", "'12000-01-01'"),
        ("args", "'5'"),
        ("options", "'[]'"),
        ("max_attempts", "0"),
        ("payload", "'null'"),
    ],
)
def test_a_row_that_makes_no_sense_is_refused_at_the_door(broker, columns, values):
    @dramatiq.actor
    def work():
        pass

    broker.job_types.publish()
    with pytest.raises(psycopg2.Error):
        store.run(f"insert into job_queue (job_type, {columns}) values ('work', {values})")


def test_an_insert_cannot_pretend_that_a_job_runs(broker):
    @dramatiq.actor
    def work():
        pass

    broker.job_types.publish()
    store.run("insert into job_queue (job_type, state, options) values ('work', 'consumed', '{\"eta\": 1}')")
    with working(broker):
        until(lambda: statuses() == ["completed"])
    assert store.value("select started_at is not null from job_queue")


def test_a_pipeline_that_is_too_long_is_refused(broker):
    @dramatiq.actor
    def work():
        pass

    step = work.message_with_options(pipe_ignore=True)
    dramatiq.pipeline([step.copy() for _ in range(200)]).run()
    with pytest.raises(PayloadRefused, match="at most 200 steps"):
        dramatiq.pipeline([step.copy() for _ in range(201)]).run()


@pytest.mark.parametrize("options", [{"max_attempts": 0}, {"priority": 40_000}, {"max_running": -1}, {"gates": "llm"}])
def test_an_option_that_no_job_can_have_is_refused_where_it_is_declared(broker, options):
    with pytest.raises(ValueError, match="work: "):

        @dramatiq.actor(**options)
        def work():
            pass

    assert "work" not in broker.actors


def test_a_priority_beyond_the_column_is_refused_where_it_is_sent(broker):
    @dramatiq.actor
    def work():
        pass

    with pytest.raises(ValueError, match="between -32768 and 32767"):
        work.send_with_options(priority=40_000)


def test_max_retries_of_one_message_mean_what_they_mean_in_dramatiq(broker):
    @dramatiq.actor(backoff=0.01)
    def work():
        raise ValueError

    work.send_with_options(max_retries=0)
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert rows()[0].attempts == 1


def test_a_swallowed_error_does_not_make_a_transaction_a_silent_rollback(broker):
    def swallow():
        with store.transaction():
            store.run("insert into job_limit (name, max_running) values ('x', 1)")
            with contextlib.suppress(psycopg2.Error):
                store.run("select 1/0")

    with pytest.raises(psycopg2.errors.InFailedSqlTransaction, match="nothing was written"):
        swallow()
    assert store.value("select count(*) from job_limit") == 0


def test_a_task_that_outlives_the_transaction_is_not_in_the_next_ones(database):
    async def main():
        go_on = asyncio.Event()

        async def late():
            await go_on.wait()
            store.run("insert into job_limit (name, max_running) values ('late', 1)")

        with store.transaction():
            task = asyncio.create_task(late())
            await asyncio.sleep(0)
        with pytest.raises(ZeroDivisionError), store.transaction():  # noqa: PT012
            go_on.set()
            await task
            raise ZeroDivisionError

    asyncio.run(main())
    assert store.rows("select name from job_limit") == [("late",)]


def test_a_transaction_that_a_job_left_open_is_undone_and_the_job_has_failed(broker):
    left = []

    @dramatiq.actor(max_attempts=1)
    def careless():
        left.append(store.transaction())
        left[-1].__enter__()
        store.run("insert into job_limit (name, max_running) values ('careless', 1)")

    @dramatiq.actor
    def next_one(n):
        store.run("insert into job_limit (name, max_running) values (%(n)s, 1)", n=str(n))

    careless.send()
    with working(broker, threads=1):
        until(lambda: statuses() == ["error"])
        for n in range(3):
            next_one.send(n)
        until(lambda: statuses() == ["error"] + ["completed"] * 3)
    assert [name for (name,) in store.rows("select name from job_limit order by name")] == ["0", "1", "2"]
    assert "left a transaction open" in rows()[0].error_msg
    for each in left:
        each.gen.close()


def test_completion_cannot_be_nested_or_inside_another_transaction_or_thread(broker):
    said = []

    def attempt(action):
        try:
            action()
        except RuntimeError as error:
            said.append(str(error))

    def nested():
        with completion(), completion():
            pass

    def inside():
        with store.transaction(), completion():
            pass

    def plain():
        with completion():
            pass

    @dramatiq.actor
    def work():
        attempt(nested)
        attempt(inside)
        other = threading.Thread(target=attempt, args=(plain,))
        other.start()
        other.join()
        plain()

    work.send()
    with working(broker):
        until(lambda: statuses() == ["completed"])
    assert [text.split(" ")[1:3] for text in said] == [["is", "the"], ["is", "the"], ["works", "in"]]


def test_what_a_middleware_sends_after_completion_is_sent(broker):
    done = []

    @dramatiq.actor
    def after(message, result):
        done.append(message["actor_name"])

    @dramatiq.actor
    def work():
        with completion():
            pass

    work.send_with_options(on_success=after)
    with working(broker):
        until(lambda: done == ["work"])


def test_a_job_that_has_just_completed_itself_is_not_taken_for_a_lost_one(broker, monkeypatch):
    monkeypatch.setattr(settings, "LEASE", 0.3)
    after = []

    @dramatiq.actor
    def work(n):
        with completion():
            pass
        threading.Event().wait(0.3)
        after.append(n)

    broker.enqueue_many(work.message(n) for n in range(12))
    with working(broker, threads=4):
        until(lambda: len(after) == 12)


def test_a_cancelled_job_in_completion_is_cancelled_and_not_a_crash(broker):
    inside, go_on = threading.Event(), threading.Event()

    @dramatiq.actor
    def work():
        inside.set()
        while not go_on.is_set():
            try:
                go_on.wait(5)
            except Cancelled:
                continue  # a job that does not listen
        with completion():
            pass

    message = work.send()
    with working(broker):
        assert inside.wait(5)
        store.value("select cancel_job(%(id)s)", id=message.message_id)
        go_on.set()
        until(lambda: statuses() == ["cancelled"])
    assert failures() == [(1, "cancelled", "cancelled")]


def test_the_pool_survives_threads_that_are_interrupted_at_any_moment(database, monkeypatch):
    from dramatiq.middleware.threading import raise_thread_exception

    monkeypatch.setattr(settings, "POOL_SIZE", 2)
    stop = threading.Event()

    def use():
        while not stop.is_set():
            try:
                for _ in range(50):
                    store.value("select 1")
            except Cancelled:
                pass

    threads = [threading.Thread(target=use, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for n in range(300):
        raise_thread_exception(threads[n % 3].ident, Cancelled)
        stop.wait(0.002)
    stop.set()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    assert store.value("select 1") == 1


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


@pytest.mark.parametrize("broken", [False, True])
def test_a_rule_may_send_and_have_transactions_of_its_own(broker, broken):
    @dramatiq.actor(max_attempts=1)
    def scan():
        pass

    @dramatiq.actor(queue_name="elsewhere")
    def work(n):
        pass

    @broker.follows(scan)
    def each(result):
        with store.transaction():
            for n in range(1500):
                if broken and n == 900:
                    raise LookupError
                if n % 100 == 0:
                    work.send(-n)
                yield work.message(n)

    scan.send()
    broker.queues.pop("elsewhere")
    with working(broker):
        until(lambda: rows("job_type = 'scan'")[0].status in ("completed", "error"))
    assert store.value("select count(*) from job_queue where job_type = 'work'") == (0 if broken else 1515)


def test_a_failing_rule_sends_nothing_at_all(broker):
    told = []

    @dramatiq.actor(max_attempts=2, backoff=0.01)
    def work():
        pass

    @dramatiq.actor
    def after(message, result):
        told.append(1)

    @broker.follows(work)
    def each(result):
        raise LookupError

    work.send_with_options(on_success=after)
    with working(broker):
        until(lambda: statuses() == ["error"])
    assert told == []


REFUSALS = [psycopg2.errors.LockNotAvailable, psycopg2.errors.QueryCanceled, psycopg2.errors.DeadlockDetected]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda error: error.__name__)
def test_a_turn_that_is_refused_for_a_moment_freezes_nothing(broker, monkeypatch, refusal):
    ran, real, times = [], queue.turn, [4]

    @dramatiq.actor
    def work(n):
        ran.append(n)

    def turn(done, ended, *args):
        if (done or ended) and times[0] > 0:
            times[0] -= 1
            store.run("set local lock_timeout = 0")  # a statement, so that the connection is in use
            raise make(refusal)
        return real(done, ended, *args)

    def make(kind):
        error = kind("refused")
        return error

    monkeypatch.setattr("jobbko.engine.dispatcher.RECONNECT", 0.05)
    monkeypatch.setattr(queue, "turn", turn)
    monkeypatch.setattr("jobbko.engine.dispatcher.passing", lambda error: isinstance(error, refusal))
    broker.enqueue_many(work.message(n) for n in range(40))
    with working(broker, threads=4):
        until(lambda: all_are("completed"))
    assert sorted(ran) == list(range(40))


def test_a_table_that_is_locked_for_longer_than_the_statement_may_take_freezes_nothing(broker, database, monkeypatch):
    monkeypatch.setattr(settings, "DATABASE_URL", f"{database}&options=-c%20statement_timeout%3D150")
    pool.close()
    started = threading.Event()

    @dramatiq.actor
    def work(n):
        started.set()
        threading.Event().wait(0.02)

    broker.enqueue_many(work.message(n) for n in range(40))
    locker = psycopg2.connect(database)
    with working(broker, threads=4):
        assert started.wait(5)
        locker.cursor().execute("lock table job_queue in access exclusive mode")
        threading.Event().wait(0.6)
        locker.rollback()
        until(lambda: all_are("completed"))
    locker.close()


def test_a_give_back_that_is_cut_is_made_up_for_after_reconnecting(broker, monkeypatch):
    hold, real, fail = threading.Event(), queue.turn, [True]

    @dramatiq.actor
    def work(n):
        if n >= 300:
            hold.wait(10)

    def turn(done, ended, *args):
        if fail[0] and any(item["state"] == "queued" for item in ended):
            fail[0] = False
            raise psycopg2.OperationalError("server closed the connection unexpectedly")
        return real(done, ended, *args)

    monkeypatch.setattr("jobbko.engine.dispatcher.RECONNECT", 0.05)
    monkeypatch.setattr(queue, "turn", turn)
    broker.enqueue_many(work.message(n) for n in range(360))
    with working(broker, threads=2):
        until(lambda: not fail[0])
        hold.set()
        until(lambda: all_are("completed"))


def test_sending_from_a_job_while_the_server_is_away_is_not_charged(broker, monkeypatch):
    monkeypatch.setattr("jobbko.engine.retries.RECONNECT", 0.05)
    tries = []

    @dramatiq.actor
    def other():
        pass

    @dramatiq.actor
    def work():
        tries.append(1)
        if len(tries) == 1:
            lost = psycopg2.OperationalError("server closed the connection")
            lost._lost_our_database = True
            raise Unreachable("cannot enqueue") from lost
        other.send()

    work.send()
    with working(broker):
        until(lambda: statuses() == ["completed", "completed"])
    assert failures() == [(1, "refunded", "database")]


def test_a_cursor_of_the_jobs_own_that_is_closed_is_the_jobs_own_bug(broker, database):
    @dramatiq.actor(max_attempts=1)
    def work():
        conn = psycopg2.connect(database)
        cursor = conn.cursor()
        conn.close()
        cursor.execute("select 1")

    work.send()
    with working(broker):
        until(lambda: statuses() == ["error"])


def test_of_many_jobs_that_became_due_at_once_the_most_urgent_is_first(broker):
    order = []

    @dramatiq.actor
    def work(n):
        order.append(n)

    broker.job_types.publish()
    store.run(
        "insert into job_queue (job_type, payload, scheduled_for) select 'work', jsonb_build_object('n', n),"
        " clock_timestamp() + interval '0.2 s' from generate_series(1, 3000) n"
    )
    work.send_with_options(args=("urgent",), priority=10, delay=300)
    until(lambda: store.value("select bool_and(scheduled_for < clock_timestamp()) from job_queue"))
    with working(broker, threads=1):
        until(lambda: len(order) > 10)
    assert order[0] == "urgent"


def test_cancelling_waits_for_the_retry_that_is_just_being_written(broker, database):
    @dramatiq.actor
    def work():
        pass

    message = work.send()
    turn = queue.turn([], [], [], ["work"], 1, message.message_id, 30, None, False)
    other = psycopg2.connect(database)
    again = {"id": message.message_id, "token": turn.jobs[0].token, "state": "queued", "charge": 1, "delay": 60}
    with store.using(other):
        queue.turn([], [again], [], [], 0, message.message_id, 30, None, False)
    said = []
    cancels = threading.Thread(
        target=lambda: said.append(store.value("select cancel_job(%(id)s)", id=message.message_id))
    )
    cancels.start()
    until(lambda: store.value("select count(*) from pg_stat_activity where wait_event_type = 'Lock'") == 1)
    other.commit()
    cancels.join(10)
    other.close()
    assert said == [True]
    assert statuses() == ["cancelled"]
