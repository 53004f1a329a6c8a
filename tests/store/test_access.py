"""Row-level security, tried with SQL written by hand, as a user of the API might."""

from __future__ import annotations

import uuid

import psycopg2
import pytest

from jobbko import store
from jobbko.store import queue

KARI, OLA, STRANGER = (f"00000000-0000-4000-8000-00000000000{n}" for n in (1, 2, 3))
#: Every table and view that says something about jobs or what they made.
VIEWS = (
    *("job_queue", "job_attempt", "job_attempt_failed", "nodes", "node_access", "tracks", "albums", "artists"),
    *("track_audio_features", "artwork", "scan_run", "library_roots"),
)


@pytest.fixture
def collections(tx):
    """Two collections with a dead job and a track each: Kari is operator of the first, Ola viewer of the second."""
    ids = [str(uuid.uuid4()) for _ in range(2)]
    store.run("insert into job_type (name) values ('work')")
    for number, id in enumerate(ids):
        store.run("insert into nodes (id, kind, title) values (%(id)s, 'collection', %(id)s)", id=id)
        job = str(uuid.uuid4())
        queue.add([{"id": job, "collection": id, "job_type": "work", "payload": {"secret": number}, "priority": 5,
                    "max_attempts": 5, "queue_name": "default"}])  # fmt: skip
        store.run(
            "insert into job_attempt_failed (job_id, attempt, outcome, class, message) values"
            " (%(job)s, 1, 'dead', 'internal', 'secret')",
            job=job,
        )
        store.run(
            "update job_queue set state = 'rejected', lease_token = gen_random_uuid() where id = %(job)s", job=job
        )
        store.run(
            "insert into tracks (collection_node_id, path, path_text, path_key, size, mtime_ns, content_hash)"
            " values (%(id)s, 'a', 'a', 'a', 1, 1, 'x')",
            id=id,
        )
        store.run("insert into queue_state (gate, closed, reason, note) values (%(gate)s, true, 'manual', 'secret')",
                  gate=f"collection:{id}")  # fmt: skip
    for user, id, role in ((KARI, ids[0], "operator"), (OLA, ids[1], "viewer")):
        store.run("insert into node_access (node_id, user_id, role) values (%(id)s, %(user)s, %(role)s)",
                  id=id, user=user, role=role)  # fmt: skip
    return ids


def become(user):
    store.run("set local role jobbko_api")
    store.rows("select set_config('jobbko.user_id', %(user)s, true)", user=user)


def refused(statement, **params):
    with pytest.raises(psycopg2.errors.InsufficientPrivilege), store.transaction():
        store.run(statement, **params)


def test_a_user_sees_only_her_collections_in_every_table_and_view(collections):
    become(KARI)
    for name in VIEWS:
        text = " ".join(row for (row,) in store.rows(f"select t::text from {name} t"))
        assert collections[1] not in text, name
        assert OLA not in text, name
    assert store.rows("select collection_node_id::text from job_queue") == [(collections[0],)]
    assert store.value("select count(*) from job_attempt_failed") == 1
    assert store.rows("select gate from queue_state") == [(f"collection:{collections[0]}",)]


@pytest.mark.parametrize("user", [STRANGER, ""])
def test_who_has_no_access_sees_nothing(collections, user):
    become(user)
    for name in VIEWS:
        assert store.value(f"select count(*) from {name}") == 0, name


def test_counting_and_joining_give_nothing_away(collections):
    become(KARI)
    assert store.value("select count(*) from job_queue where status = 'error'") == 1
    assert store.value("select count(*) from job_queue q join job_queue p on true") == 1
    # A function of the user's own that talks about each row it is asked about is not asked about hidden ones.
    assert store.value("select string_agg(payload->>'secret', '') from job_queue where payload::text > ''") == "0"


def test_an_operator_changes_jobs_of_her_collection_and_no_others(collections):
    (theirs,) = store.rows("select id::text from job_queue where collection_node_id = %(id)s", id=collections[1])[0]
    (mine,) = store.rows("select id::text from job_queue where collection_node_id = %(id)s", id=collections[0])[0]
    become(KARI)
    assert store.value("select retry_job(%(id)s)", id=mine) is True
    assert store.value("select cancel_job(%(id)s)", id=mine) is True
    for function in ("retry_job", "cancel_job", "run_job_now", "cancel_flow", "retry_flow"):
        assert not store.value(f"select {function}(%(id)s)", id=theirs)
    assert store.run("update job_queue set priority = 10") == 1
    assert store.run("delete from job_queue where id = %(id)s", id=theirs) == 0


def test_a_viewer_only_looks(collections):
    become(OLA)
    (job,) = store.rows("select id::text from job_queue")[0]
    assert store.value("select retry_job(%(id)s)", id=job) is False
    assert store.run("delete from job_queue") == 0
    refused("insert into job_queue (job_type, collection_node_id) values ('work', %(id)s)", id=collections[1])


def test_a_job_can_only_be_sent_into_ones_own_collection(collections):
    become(KARI)
    add = "insert into job_queue (job_type, collection_node_id) values ('work', %(id)s)"
    assert store.run(add, id=collections[0]) == 1
    refused(add, id=collections[1])
    refused("insert into job_queue (job_type) values ('work')")  # the default collection is not hers either
    refused("update job_queue set collection_node_id = %(id)s", id=collections[1])


def test_nobody_gives_herself_access_or_touches_the_machinery(collections):
    become(KARI)
    refused(
        "insert into node_access (node_id, user_id, role) values (%(id)s, %(user)s, 'admin')",
        id=collections[1],
        user=KARI,
    )
    refused("update queue_state set closed = false")
    refused("select note from queue_state")
    refused("insert into job_type (name) values ('mine')")
    refused("truncate job_queue")


def test_what_runs_as_the_owner_asks_no_view_of_the_users_own(collections):
    # PostgreSQL documentation, CREATE FUNCTION, "Writing SECURITY DEFINER Functions Safely".
    become(KARI)
    store.run(
        "create function pg_temp.all_of_them() returns setof uuid language sql as 'select id from public.nodes'",
    )
    store.run(
        "create temp view node_access as"
        " select id as node_id, current_setting('jobbko.user_id')::uuid as user_id, 'admin'::text as role"
        " from pg_temp.all_of_them() id"
    )
    assert store.rows("select collection_node_id::text from job_queue") == [(collections[0],)]
    assert store.run("update job_queue set priority = 1") == 1


@pytest.mark.usefixtures("tx")
def test_functions_that_run_as_the_owner_are_few_and_safe():
    unsafe = store.rows(
        "select proname from pg_proc where prosecdef and pronamespace = 'public'::regnamespace"
        " and (not coalesce(array_to_string(proconfig, ','), '') ~ 'search_path=.*pg_temp$'"
        "      or prorettype = 'trigger'::regtype and has_function_privilege('public', oid, 'execute'))"
    )
    assert unsafe == []


@pytest.mark.parametrize(
    "row",
    [
        {"state": "'consumed'", "lease_until": "'infinity'", "lane": "''", "flow_id": "gen_random_uuid()"},
        {"options": """'{"pipe_target": {}}'"""},
        {"lane": "''"},
        {"barrier": "gen_random_uuid()"},
        {"priority": "32767"},
    ],
    ids=lambda row: next(iter(row)),
)
def test_a_user_says_what_is_to_be_done_and_nothing_of_how(collections, row):
    become(KARI)
    names, values = ", ".join(row), ", ".join(row.values())
    refused(f"insert into job_queue (job_type, collection_node_id, {names}) values ('work', %(id)s, {values})",
            id=collections[0])  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        "state = 'done'",
        "lease_until = 'infinity'",
        "lease_token = gen_random_uuid()",
        "options = '{}'",
        "payload = '{}'",
        "attempts = -100",
        "priority = 32767",
    ],
)
def test_a_user_cannot_make_a_job_look_like_a_running_one(collections, change):
    become(KARI)
    refused(f"update job_queue set {change}")
    assert store.run("update job_queue set state = 'consumed'") == 0


def test_a_gate_with_an_odd_name_hides_no_others(collections):
    store.run(
        "insert into queue_state (gate, closed) values ('library:odd', true), ('collection:', true), ('llm', true)"
    )
    become(KARI)
    assert {gate for (gate,) in store.rows("select gate from queue_state")} == {f"collection:{collections[0]}", "llm"}


@pytest.mark.usefixtures("tx")
def test_every_table_with_a_collection_is_under_the_rules():
    open_ones = store.rows(
        "select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid"
        " where c.relkind = 'r' and a.attname = 'collection_node_id' and c.relnamespace = 'public'::regnamespace"
        " and not (c.relrowsecurity and c.relforcerowsecurity)"
    )
    assert open_ones == []
