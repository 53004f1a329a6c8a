"""What a claim and a promote cost does not grow with what they step over. Buffers are counted by EXPLAIN."""

from __future__ import annotations

import psycopg2
import pytest

MANY = 200_000
PER_ROW = 13


@pytest.fixture(scope="module")
def crowded(server, template):
    """A vacuumed table with many rows of each kind that a claim must not touch, and 50 that are next."""
    from tests.conftest import RUN, admin, sibling

    name = f"{RUN}_crowded"
    admin(server, "create database {} template {}", name, template)
    conn = psycopg2.connect(sibling(server, name))
    conn.autocommit = True
    with conn.cursor() as cursor:
        cursor.execute("insert into job_type (name, gates) values ('work', '{}'), ('gated', '{llm}'), ('paused', '{}')")
        cursor.execute(
            "insert into queue_state (gate, closed, reason)"
            " values ('llm', true, 'credit'), ('type:paused', true, 'manual')"
        )
        cursor.execute("alter table job_queue disable trigger user")
        row = """insert into job_queue (job_type, lane, gates, flow_id, priority, max_attempts, payload, state, due,
                                        scheduled_for, completed_at, cancelled)
                 select %s, %s, %s, gen_random_uuid(), %s, 5, '{}', %s, %s, clock_timestamp() + %s, null, false
                   from generate_series(1, %s)"""
        for values in [
            ("work", "", [], 10, "queued", False, "1 day", MANY),
            ("work", "", [], 10, "rejected", True, "0", MANY),
            ("work", "", [], 10, "done", True, "0", MANY),
            ("gated", "llm", ["llm"], 10, "queued", True, "0", 20_000),
            ("paused", "", [], 10, "queued", True, "0", 20_000),
            ("work", "", [], 5, "queued", True, "0", 50),
        ]:
            cursor.execute(row, values)
        cursor.execute("alter table job_queue enable trigger user")
        cursor.execute("vacuum analyze job_queue")
    yield conn
    conn.close()
    admin(server, "drop database {} with (force)", name)


def buffers(conn, statement):
    """Shared buffers that the statement touches, hit or read, when its plans are already made; rolled back."""
    conn.autocommit = False
    try:
        with conn.cursor() as cursor:
            cursor.execute(statement)
            cursor.execute("rollback")
            cursor.execute("explain (analyze, buffers, timing off, costs off, format json) " + statement)
            (plan,) = cursor.fetchone()[0]
            found = plan["Plan"]
            return found["Shared Hit Blocks"] + found["Shared Read Blocks"], found["Actual Rows"]
    finally:
        conn.rollback()
        conn.autocommit = True


TURN = (
    "select * from job_turn('{{}}', '{{}}', null, null, '{{work,gated,paused}}', {want}, gen_random_uuid(), '30 s',"
    " null, {promote})"
)


@pytest.mark.slow
@pytest.mark.parametrize("want", [1, 8, 40])
def test_a_claim_finds_its_rows_in_fifty_buffers(crowded, want):
    # graphile/worker#274: slow beside many scheduled or dead jobs; rails/solid_queue#508, #630: beside a paused queue.
    touched, found = buffers(crowded, TURN.format(want=want, promote=False))

    assert found == want + 1  # and the summary
    assert touched <= 50 + PER_ROW * want


@pytest.mark.slow
def test_a_promote_with_nothing_due_takes_ten_buffers(crowded):
    touched, _ = buffers(crowded, "select job_promote(500)")
    assert touched <= 10


@pytest.mark.slow
def test_a_claim_with_nothing_to_claim_is_as_cheap(crowded):
    with crowded.cursor() as cursor:
        cursor.execute("begin")
    touched, found = buffers(
        crowded, TURN.replace("{{work,gated,paused}}", "{{gated,paused}}").format(want=8, promote=True)
    )
    assert found == 1
    assert touched <= 50
