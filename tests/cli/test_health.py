"""What `jobbko doctor` finds in a queue, with the remedy beside it."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta

import psycopg2
import pytest

import actors  # noqa: F401  every job declares itself
from broker import broker
from jobbko import store
from jobbko.cli import _health
from jobbko.store import gates, health, schedules

SCHEDULE = broker.schedules.known["filesystem_rescan"]


@pytest.fixture
def found(database):
    """What the checks of the queue say, by subject: (state, said, remedy)."""

    def look(subject):
        return [(each.state, each.said, each.remedy) for each in _health.findings() if each.subject == subject]

    return look


@pytest.fixture
def worker(database):
    def start(*job_types):
        store.run(
            "insert into worker (id, host, pid, threads, job_types)"
            " values (gen_random_uuid(), 'here', 1, 2, %(types)s)",
            types=list(job_types),
        )

    return start


def test_a_queue_that_is_well_has_no_faults(found, worker):
    worker("audio_analysis")
    for schedule in broker.schedules.known.values():
        schedule.register(datetime.now(UTC))
    assert [(each.subject, each.state) for each in _health.findings() if each.subject != "slot"] == [("workers", "ok")]


def test_jobs_without_any_worker(found, job):
    assert found("workers") == [("fault", "none alive; 2 jobs waiting", "jobbko worker, or jobbko up")]
    assert found("work") == []


def test_a_job_type_that_no_live_worker_runs(found, job, worker):
    worker("artwork_download")
    ((state, said, remedy),) = found("work")
    assert (state, said) == ("fault", "2 jobs of type audio_analysis due, and no live worker runs that type")
    assert "jobbko worker --types audio_analysis" in remedy
    worker("audio_analysis")
    assert found("work") == []


def test_gates_that_only_a_person_opens(found):
    gates.pause("llm", note="invoice")
    gates.pause("whisper", until=datetime.now(UTC) + timedelta(hours=1))
    store.rows("select gate_close('musicbrainz', 'auth', null, null, 'key refused', null)")
    store.rows("select gate_close('coverart', 'outage', null, null, 'away', null)")
    assert sorted(found("gate")) == [
        ("fault", "musicbrainz is closed (auth) until somebody opens it; 0 jobs waiting – key refused",
         "Mend the cause, then: jobbko resume musicbrainz"),
        ("note", "llm is closed (manual) until somebody opens it; 0 jobs waiting – invoice", "jobbko resume llm"),
    ]  # fmt: skip


def test_a_schedule_whose_scheduler_does_not_run(found):
    said = [each[:2] for each in found("schedule")]
    assert said == [("note", f"{name}: no scheduler has seen it yet") for name in sorted(broker.schedules.known)]
    for schedule in broker.schedules.known.values():
        schedule.register(datetime.now(UTC))
    store.run("update schedule set first_seen_at = now() - interval '3 days' where name = 'filesystem_rescan'")
    due = SCHEDULE.cron.latest(datetime.now(UTC) - timedelta(minutes=2))
    ((state, said, _),) = found("schedule")
    assert state == "fault"
    assert f"filesystem_rescan of {due:%Y-%m-%d} 02:23 UTC has not been sent" in said

    schedules.set_enabled("filesystem_rescan", "23 2 * * *", "UTC", False)
    assert found("schedule") == []
    schedules.set_enabled("filesystem_rescan", "23 2 * * *", "UTC", True)
    store.run("update schedule set first_seen_at = now() - interval '3 days' where name = 'filesystem_rescan'")
    store.run("insert into schedule_tick (schedule, tick_at) values ('filesystem_rescan', %(at)s)", at=due)
    assert found("schedule") == []


def test_leases_that_nobody_sweeps(found, job):
    store.run(
        "update job_queue set state = 'consumed', lease_token = gen_random_uuid(),"
        " lease_until = clock_timestamp() - %(ago)s * interval '1 minute' where id = %(id)s",
        id=job[1],
        ago=3,
    )
    ((state, said, _),) = found("leases")
    assert state == "fault"
    assert said.startswith("1 job running under leases that are over, the oldest for 3m")
    store.run("update job_queue set lease_until = clock_timestamp() - interval '5 s' where state = 'consumed'")
    assert found("leases") == []


def test_a_transaction_that_somebody_has_left_open(found, database, monkeypatch):
    conn = psycopg2.connect(database, application_name="psql of somebody")
    conn.cursor().execute("select count(*) from job_queue")
    assert found("snapshot") == []
    monkeypatch.setattr(_health, "OLD", -1)
    mine = [each for each in found("snapshot") if "psql of somebody" in each[1]]
    ((state, said, remedy),) = mine
    assert state == "fault"
    assert "idle in transaction, its transaction open for" in said
    assert remedy == f"End it there, or: select pg_terminate_backend({conn.info.backend_pid})"
    conn.close()


def test_a_prepared_transaction_that_never_ended(found, monkeypatch):
    monkeypatch.setattr(health, "prepared", lambda age: [health.Prepared("two-phase 7", 7200.0)])
    assert found("snapshot") == [
        ("fault", "transaction 'two-phase 7' was prepared 2h ago and never ended",
         "rollback prepared 'two-phase 7' (or commit prepared)")
    ]  # fmt: skip


def test_a_replication_slot_that_nobody_reads(found):
    name = f"jobbko_test_{uuid.uuid4().hex[:8]}"
    store.rows("select pg_create_physical_replication_slot(%(name)s, true)", name=name)
    try:
        said = next(each for each in found("slot") if name in each[1])
    finally:
        store.rows("select pg_drop_replication_slot(%(name)s)", name=name)
    assert said[0] == "fault"
    assert said[2] == f"Start its reader, or: select pg_drop_replication_slot('{name}')"


@pytest.mark.parametrize(
    ("live", "dead", "faults"), [(1000, 60_000, 1), (1000, 40_000, 0), (10_000, 60_000, 0), (0, 50_001, 1)]
)
def test_dead_rows_that_nobody_clears_away(found, monkeypatch, live, dead, faults):
    assert health.rows().dead >= 0
    monkeypatch.setattr(health, "rows", lambda: health.Rows(live, dead, None))
    assert len(found("table")) == faults


def test_doctor_tells_of_them_in_text_and_as_json(run, job):
    assert "none alive; 2 jobs waiting" in run("doctor", code=1)
    findings = json.loads(run("doctor", "--json", code=1))["findings"]
    assert ("workers", "fault") in {(each["subject"], each["state"]) for each in findings}


def test_a_group_whose_callback_could_not_be_sent(found):
    store.run(
        "insert into flow_barrier (id, branches, callbacks, error) values"
        " ('6f1b8f2e-0000-4000-8000-000000000009', 2, '[{\"job_type\": \"writeup\"}]', 'writeup has no parameter x')"
    )
    ((state, said, remedy),) = found("fan-in")
    assert state == "fault"
    assert said == (
        "writeup, which was to follow the group 6f1b8f2e-0000-4000-8000-000000000009, could not be sent: "
        "writeup has no parameter x"
    )
    assert remedy == "Mend the cause, then send it by hand: jobbko send writeup …"
