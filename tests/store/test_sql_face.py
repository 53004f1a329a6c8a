"""The queue as anyone sees it with SQL: insert, read, cancel, retry."""

from __future__ import annotations

import io
import json
import uuid

import psycopg2
import pytest

from jobbko import store
from jobbko.engine.job_types import JobType
from jobbko.engine.signature import Signature
from jobbko.store import queue

pytestmark = pytest.mark.usefixtures("tx")


def transcribe(audio_path, media_node_id=None, language=None): ...


@pytest.fixture(autouse=True)
def published(tx):
    signature = Signature.of("transcribe", transcribe)
    kinds = [
        JobType(signature, "default", 7, 4, ["whisper"], False, False, False, None),
        JobType(Signature.of("tidy", lambda n: None), "default", 1, 5, [], True, False, False, None),
    ]
    queue.publish([kind.row() for kind in kinds], {})


def insert(job_type="transcribe", payload=None, **columns):
    columns = {"job_type": job_type, "payload": json.dumps(payload or {}), **columns}
    names = ", ".join(columns)
    values = ", ".join(f"%({name})s" for name in columns)
    return store.value(f"insert into job_queue ({names}) values ({values}) returning id", **columns)


def refused(message, hint, *args, **kwargs):
    with pytest.raises(psycopg2.Error) as error, store.transaction():
        insert(*args, **kwargs)
    assert message in error.value.diag.message_primary
    assert hint in error.value.diag.message_hint


def test_the_table_has_the_seeds_columns_in_its_order():
    columns = store.rows(
        "select column_name from information_schema.columns where table_name = 'job_queue' order by ordinal_position"
    )
    assert [name for (name,) in columns][:14] == [
        "id", "collection_node_id", "job_type", "payload", "status", "priority", "result", "error_msg", "attempts",
        "max_attempts", "created_at", "started_at", "completed_at", "scheduled_for",
    ]  # fmt: skip


def test_an_insert_takes_its_defaults_from_the_job_type():
    id = insert(payload={"audio_path": "/a.mp3"})
    found = store.rows(
        "select status::text, priority, max_attempts, gates, attempts, due, flow_id from job_queue where id = %(id)s",
        id=id,
    )
    assert found == [("pending", 7, 4, ["whisper"], 0, True, id)]


def test_an_insert_may_say_otherwise():
    insert(payload={"audio_path": "/a.mp3"}, priority=10, max_attempts=2, scheduled_for="2999-01-01")
    assert store.rows("select priority, max_attempts, due from job_queue") == [(10, 2, False)]


def test_an_unknown_job_type_is_refused_with_the_known_ones():
    refused('unknown job_type "transribe"', "Known: tidy, transcribe.", "transribe")


def test_a_payload_that_does_not_fit_is_refused_with_the_signature():
    takes = "transcribe takes: audio_path, media_node_id (optional), language (optional)."
    refused("transcribe needs the parameter audio_path", takes)
    refused("transcribe has no parameter path", takes, payload={"audio_path": "/a", "path": "/b"})
    refused("must be an object", takes, payload=[1])
    refused("more than 65536; pass audio and other files by path", takes, payload={"audio_path": "x" * 70_000})


def test_status_cannot_be_written():
    with pytest.raises(psycopg2.Error), store.transaction():
        insert(payload={"audio_path": "/a"}, status="completed")


def test_equal_waiting_jobs_are_found_by_sql_as_by_python():
    insert("tidy", {"n": 1})
    assert queue.add([_row("tidy", {"n": 1}, dedupe=True)]) == set()
    assert (
        store.run("insert into job_queue (job_type, payload) values ('tidy', '{\"n\": 1}') on conflict do nothing") == 0
    )


def test_copy_and_merge_and_returning_work():
    store.run(
        "merge into job_queue q using (values ('/m.mp3')) as wanted (path) on q.payload->>'audio_path' = wanted.path"
        " when not matched then insert (job_type, payload)"
        " values ('transcribe', jsonb_build_object('audio_path', path))"
    )
    with store._connection() as conn, conn.cursor() as cursor:
        cursor.copy_expert(
            "copy job_queue (job_type, payload) from stdin", io.StringIO('transcribe\t{"audio_path": "/c"}\n')
        )
    assert store.value("select count(*) from job_queue") == 2


def test_one_statement_rings_once_and_a_rollback_does_not_ring(database_listener):
    # oban-bg/oban#956: a notification for each insert.
    store_conn, heard = database_listener
    with store_conn.cursor() as cursor:
        cursor.execute(
            "insert into job_type (name) values ('bulk');"
            "insert into job_queue (job_type, payload) select 'bulk', '{}' from generate_series(1, 1000)"
        )
        store_conn.commit()
        assert heard() == 1
        cursor.execute("insert into job_queue (job_type) values ('bulk')")
        store_conn.rollback()
        assert heard() == 0


@pytest.fixture
def database_listener(database):
    writer, listener = psycopg2.connect(database), psycopg2.connect(database)
    listener.autocommit = True
    listener.cursor().execute("listen jobbko")

    def heard():
        with listener.cursor() as cursor:
            cursor.execute("select 1")
        count = len(listener.notifies)
        listener.notifies.clear()
        return count

    yield writer, heard
    writer.close()
    listener.close()


def test_every_attempt_can_be_read_the_successful_one_too():
    id = insert(payload={"audio_path": "/a"})
    turn = queue.turn([], [], [], ["transcribe"], 1, "00000000-0000-0000-0000-00000000000a", 30, None, False)
    failed = {"id": id, "token": turn.jobs[0].token, "state": "queued", "charge": 1, "delay": 0, "outcome": "retry"}
    queue.turn([], [{**failed, "error": "first", "class": "internal"}], [], [], 0, turn.jobs[0].id, 30, None, False)
    turn = queue.turn([], [], [], ["transcribe"], 1, "00000000-0000-0000-0000-00000000000a", 30, None, False)
    queue.turn([(id, turn.jobs[0].token)], [], [], [], 0, turn.jobs[0].id, 30, None, False)

    assert store.rows(
        "select attempt, outcome, message from job_attempt where job_id = %(id)s order by attempt", id=id
    ) == [
        (1, "retry", "first"),
        (2, "completed", None),
    ]


def test_nothing_is_written_without_the_token():
    # riverqueue/river#1302; rails/solid_queue#689
    id = insert(payload={"audio_path": "/a"})
    queue.turn([], [], [], ["transcribe"], 1, id, 30, None, False)
    stale = "00000000-0000-0000-0000-00000000000b"
    followers = [_row("tidy", {"n": 1}, parent_id=id)]

    done = queue.turn([(id, stale)], [], followers, [], 0, id, 30, None, False)
    ended = queue.turn([], [{"id": id, "token": stale, "state": "rejected"}], [], [], 0, id, 30, None, False)

    assert done.lost == ended.lost == {id}
    assert store.rows("select status::text from job_queue") == [("running",)]
    assert queue.complete(id, stale, None) is False
    assert queue.hold(id, stale) is None


def test_no_advisory_lock_is_taken_for_a_job():
    # goauthentik/authentik#16314; bensheldon/good_job#985: works behind a pooler, and with few locks.
    for n in range(50):
        insert("tidy", {"n": n})
    queue.turn([], [], [], ["tidy"], 50, "00000000-0000-0000-0000-00000000000a", 30, None, True)
    assert store.value("select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()") == 0


def _row(job_type, payload, **more):
    return {"id": str(uuid.uuid4()), "job_type": job_type, "payload": payload, "priority": 5, "max_attempts": 5,
            "queue_name": "default", **more}  # fmt: skip
