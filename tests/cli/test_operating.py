"""Dead letters, sending by hand, workers, limits, purging."""

from __future__ import annotations

import json
import uuid

import pytest

from broker import broker
from jobbko import store
from jobbko.store import queue
from tests.cli.conftest import die


@pytest.fixture
def dead(job):
    """Three dead jobs that say two things."""
    die(job[1], f"no track {uuid.uuid4()}")
    die(job[2], f"no track {uuid.uuid4()}")
    return job


def statuses():
    return [status for (status,) in store.rows("select status::text from job_queue order by seq")]


def test_dead_letters_are_grouped_by_what_they_say(run, dead):
    found = json.loads(run("dead", "--json"))["dead"]
    assert [(each["jobs"], each["job_type"], each["message"]) for each in found] == [
        (2, "audio_analysis", "no track …"),
        (1, "audio_analysis", "no such file"),
    ]
    assert "no such file" in run("dead", "--type", "audio_analysis")
    assert "There are no dead letters" in run("dead", "--type", "artwork_download")


def test_dead_letters_are_put_back_by_what_they_say(run, complaint, dead):
    assert "2 dead letters would be put back" in run("requeue", "--match", "NO TRACK", "--dry-run")
    assert statuses() == ["error"] * 3
    assert "2 dead letters put back" in run("requeue", "--match", "NO TRACK")
    assert statuses() == ["error", "pending", "pending"]
    assert json.loads(run("requeue", "--all", "--json")) == {"dead": 1, "requeued": 1}
    assert "There are no such dead letters" in complaint("requeue", "--all", code=3)


def test_a_dead_letter_whose_equal_waits_stays_and_is_counted(run, dead):
    store.run("update job_queue set dedupe_key = 'same'")
    said = run("requeue", "--all")
    assert "1 dead letter put back; 2 stay" in said
    assert sorted(statuses()) == ["error", "error", "pending"]


def test_many_dead_letters_are_put_back_in_batches(run, dead, monkeypatch):
    # goauthentik/authentik#19302
    monkeypatch.setattr("jobbko.store.jobs.BATCH", 2)
    assert "3 dead letters put back" in run("requeue", "--type", "audio_analysis")


def test_a_job_is_sent_with_parameters_by_name(run):
    said = run("send", "filesystem_rescan", "root=/music", "full=true", "--priority", "10", "--dedupe-key", "k")
    assert "waits in the queue" in said
    assert store.rows("select job_type, payload, priority, dedupe_key, due from job_queue") == [
        ("filesystem_rescan", {"root": "/music", "full": True}, 10, "k", True)
    ]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("5", 5),
        ('"5"', "5"),
        ("null", None),
        ('["a"]', ["a"]),
        ("a=b", "a=b"),
        ("", ""),
        ("3f2b8c1e-77", "3f2b8c1e-77"),
    ],
)
def test_a_value_is_json_if_it_can_be(run, written, value):
    run("send", "audio_analysis", f"track_id={written}")
    assert store.value("select payload from job_queue") == {"track_id": value}


def test_a_job_may_wait_and_belong_to_a_collection(run):
    collection = str(uuid.uuid4())
    store.run("insert into nodes (id, kind, title) values (%(id)s, 'collection', 'mine')", id=collection)
    options = ("--delay", "2h", "--collection", collection, "--json")
    sent = json.loads(run("send", "audio_analysis", "track_id=x", *options))["job"]
    query = "select collection_node_id, due, round(extract(epoch from scheduled_for - created_at)) from job_queue"
    assert store.rows(query) == [(collection, False, 7200)]
    assert store.value("select id from job_queue") == sent


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (
            ("audio_analysi", "track_id=x"),
            "There is no job type audio_analysi. Known: ai_text_process, ",
        ),
        (("audio_analysis",), "audio_analysis needs track_id"),
        (("audio_analysis", "track_id=x", "colour=red"), "audio_analysis has no parameter colour"),
        (("audio_analysis", "track_id=x", "--collection", str(uuid.uuid4())), "There is no collection"),
    ],
)
def test_a_job_that_could_never_run_is_not_sent(complaint, arguments, part):
    assert part in complaint("send", *arguments, code=3 if "There is no" in part else 1)
    assert statuses() == []


@pytest.mark.parametrize("wrong", [("track_id",), ("=x",), ("track_id=1", "track_id=2"), ("--priority", "high")])
def test_wrong_parameters_are_a_usage_error(complaint, wrong):
    complaint("send", "audio_analysis", *wrong, code=2)


def test_workers_are_listed_with_their_state(run):
    assert "No worker in the last day" in run("workers")
    store.run(
        "insert into worker (id, host, pid, threads, job_types, heartbeat_at, stopped_at) values"
        " (gen_random_uuid(), 'one', 1, 3, '{audio_analysis}', now(), null),"
        " (gen_random_uuid(), 'two', 2, 3, '{}', now() - interval '1 hour', null),"
        " (gen_random_uuid(), 'three', 3, 3, '{}', now(), now())"
    )
    said = run("workers")
    for part in ("alive", "silent for 1h", "stopped 0s ago", "audio_analysis"):
        assert part in said
    assert {each["host"] for each in json.loads(run("workers", "--json"))["workers"]} == {"one", "two", "three"}


def test_a_limit_is_changed_by_hand_and_given_back(run):
    broker.job_types.publish()
    store.run("insert into job_limit (name, max_running) values ('notebook', 1)")
    store.run("update job_type set limit_name = 'notebook' where name = 'audio_analysis'")
    assert "at most 4 at once" in run("limits", "notebook", "4")
    found = next(each for each in json.loads(run("limits", "--json"))["limits"] if each["name"] == "notebook")
    assert found == {
        "name": "notebook", "max_running": 4, "by_hand": True, "job_types": ["audio_analysis"], "running": 0
    }  # fmt: skip
    assert "hand" in run("limits")
    assert "as the code says" in run("limits", "notebook", "--reset")
    assert store.value("select by_hand from job_limit where name = 'notebook'") is False


def test_a_limit_that_is_not_there_is_told(complaint):
    assert "There is no limit notebok" in complaint("limits", "notebok", "3", code=3)
    complaint("limits", "notebok", code=2)
    complaint("limits", "notebok", "many", code=2)


def test_purge_deletes_what_is_old_enough_and_says_what_it_would(run, dead):
    old = "update job_queue set state = 'done', mtime = now() - interval '8 days', lease_token = null where id = %(id)s"
    store.run(old.replace("'done'", "'rejected'"), id=dead[0])
    store.run("update job_queue set state = 'queued', lease_token = gen_random_uuid() where id = %(id)s", id=dead[1])
    store.run(old + " and state = 'queued'", id=dead[1])
    store.run("update job_queue set mtime = now() - interval '8 days'")
    assert statuses() == ["error", "completed", "error"]

    assert "Would delete: 1 completed" in run("purge", "--completed-older-than", "7d", "--dry-run")
    assert "0 jobs deleted" in run("purge", "--completed-older-than", "9d")
    assert "0 jobs deleted" in run("purge")
    assert "1 job deleted" in run("purge", "--completed-older-than", "7d")
    assert statuses() == ["error", "error"]
    assert json.loads(run("purge", "--dead-older-than", "1w", "--json")) == {"found": {"error": 2}, "deleted": 2}


def test_a_wrong_age_is_a_usage_error(complaint):
    assert "days and weeks" in complaint("purge", "--completed-older-than", "a week", code=2)
    assert "'7' has no unit; write 7d" in complaint("purge", "--completed-older-than", "7", code=2)


@pytest.fixture
def flow(database):
    """A scan that was followed by two jobs, one of which is dead."""
    broker.job_types.publish()
    first, second, third = (str(uuid.uuid4()) for _ in range(3))
    row = {"job_type": "audio_analysis", "payload": {"track_id": "x"}, "priority": 5, "max_attempts": 5,
           "queue_name": "default"}  # fmt: skip
    steps = [{**row, "id": id, "parent_id": first, "flow_id": first, "step": 2} for id in (second, third)]
    queue.add([{**row, "id": first, "job_type": "filesystem_rescan", "payload": {}}, *steps])
    die(second, "no such file")
    return first, second, third


def test_flows_are_listed_with_what_their_jobs_are(run, flow):
    said = run("flows")
    assert flow[0][:8] in said
    assert "filesystem_rescan" in said
    (found,) = json.loads(run("flows", "--json"))["flows"]
    assert found["jobs"] == 3
    assert {name: count for name, count in found["counts"].items() if count} == {"pending": 2, "error": 1}


def test_a_flow_goes_on_or_is_cancelled_by_the_id_of_any_of_its_jobs(run, complaint, flow):
    assert "1 job would wait again" in run("flows", flow[1][:8], "--retry", "--dry-run")
    assert "1 job waits again" in run("flows", flow[1][:8], "--retry")
    assert "nothing to put back" in complaint("flows", flow[1][:8], "--retry", code=3)
    assert json.loads(run("flows", flow[2], "--cancel", "--dry-run", "--json")) == {"would_cancel": 3}
    assert "3 jobs are cancelled" in run("flows", flow[2], "--cancel")
    assert [step["status"] for step in json.loads(run("flows", flow[0], "--json"))["jobs"]] == ["cancelled"] * 3


def test_flows_of_an_empty_queue_says_so(run):
    assert "There are no flows" in run("flows")
