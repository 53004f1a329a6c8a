"""The `jobbko` command as a person types it."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from jobbko import cli, store
from jobbko.store import migrate, queue


def test_every_command_explains_itself(run):
    listed = run("--help")
    names = [path.stem.replace("_", "-") for path in Path(cli.__path__[0]).glob("[a-z]*.py")]
    assert {"migrate", "scan", "jobs", "worker", "up", "doctor", "pause", "schedules", "dead", "send", "purge"} <= {
        *names
    }
    for name in names:
        assert name in listed
        assert "Usage:" in run(name, "--help")


def test_version(run):
    assert "jobbko, version" in run("--version")


def test_jobs_lists_and_counts(run, job):
    said = run("jobs")
    assert "audio_analysis" in said
    assert "no such file" in said

    found = json.loads(run("jobs", "--json", "--status", "error"))
    assert [each["id"] for each in found["jobs"]] == [job[0]]
    assert {each["status"]: each["jobs"] for each in found["counts"]} == {"error": 1, "pending": 2}


def test_jobs_and_show_agree_on_how_often_a_job_was_tried(run, job):
    running = "update job_queue set state = 'consumed', lease_token = id, started_at = now() where id = %(id)s"
    store.run(running, id=job[1])
    listed = {line.split()[0]: line.split()[3] for line in run("jobs").splitlines() if "/5" in line}
    assert listed == {job[0][:8]: "1/5", job[1][:8]: "1/5", job[2][:8]: "0/5"}
    for id, tries in zip(job, ("1 of 5", "1 of 5", "0 of 5"), strict=True):
        assert f"attempt     {tries}" in run("show", id)


def test_a_job_is_one_line_of_the_list_and_its_payload_is_told_shortly(run, job):
    queue.add(
        [
            {"id": str(uuid.uuid4()), "job_type": "audio_analysis", "priority": 7, "max_attempts": 5,
             "payload": {"track_id": "3f2b8c1e-9d41-4c7a-8e55-0b7f6a2d1c90"}, "queue_name": "default"}
        ]
    )  # fmt: skip
    said = run("jobs")
    assert "track_id=3f2b8c1e…\n" in "".join(f"{line.rstrip()}\n" for line in said.splitlines())
    assert len(said.splitlines()) == 8  # a count with its heading, a blank line, a heading, four jobs … and none broken


def test_jobs_of_a_status_that_none_has_says_so(run, job):
    assert run("jobs", "--status", "cancelled").endswith("\nNone.\n")


def test_headings_stand_at_the_left_and_alone(run, job):
    lines = run("show", job[0]).splitlines()
    assert "Attempts" in lines


def test_jobs_of_an_empty_queue_says_what_to_do(run):
    assert "jobbko scan DIR" in run("jobs")


def test_show_tells_all_about_a_job_by_the_beginning_of_its_id(run, job):
    said = run("show", job[0][:8])
    for part in ("audio_analysis", "error", "attempt     1 of 5", "no such file", "content", "track-0"):
        assert part in said
    assert json.loads(run("show", job[0], "--json"))["attempts"][0]["outcome"] == "dead"


def test_retry_and_cancel(run, job):
    assert "waits again" in run("retry", job[0])
    assert "cancelled" in run("cancel", job[1])
    assert store.rows("select status::text from job_queue order by seq") == [("pending",), ("cancelled",), ("pending",)]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("show", "%"), "is not a job's id"),
        (("scan", "/no/such/folder"), "/no/such/folder is not a folder that can be read"),
        (
            ("worker", "--types", "audio_analysi"),
            "unknown job type audio_analysi. Known: ai_text_process, ",
        ),
    ],
)
def test_a_mistake_is_told_in_one_sentence(complaint, arguments, part):
    assert part in complaint(*arguments)


def test_a_wrong_duration_is_a_usage_error(complaint):
    assert "write 500ms, 1s or 2m" in complaint("worker", "--poll-interval", "soon", code=2)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("show", "00000000"), "There is no job 00000000"),
        (("retry", "00000000"), "There is no job"),
        (("cancel", "00000000"), "There is no job"),
        (("requeue", "--match", "no such text"), "no such dead letters"),
        (("resume", "--all"), "all is not paused"),
        (("pause", "--type", "nope"), "There is no job type nope"),
        (("schedules", "--run", "nope"), "There is no schedule nope"),
    ],
)
def test_what_is_not_there_has_an_exit_code_of_its_own(complaint, job, arguments, part):
    assert part in complaint(*arguments, code=3)


def test_retrying_what_waits_already_is_refused(complaint, job):
    assert "nothing to put back" in complaint("retry", job[1], code=3)


def test_requeueing_wants_to_know_what(complaint):
    for arguments in ([], ["--all", "--type", "x"]):
        assert "Say which: --type, --match or both; or --all." in complaint("requeue", *arguments, code=2)


def test_an_unreachable_database_is_told_without_a_traceback(complaint, monkeypatch):
    monkeypatch.setattr("jobbko.settings.DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    store.pool.close()
    assert "cannot be reached" in complaint("jobs")
    store.pool.close()


@pytest.mark.parametrize("command", ["jobs", "migrate", "scan ."])
def test_an_address_that_is_none_is_told_without_repeating_it(complaint, monkeypatch, command):
    monkeypatch.setattr("jobbko.settings.DATABASE_URL", "garbage:secret")
    store.pool.close()
    said = complaint(*command.split())
    assert "postgresql://user:password@host" in said
    assert "secret" not in said
    store.pool.close()


def test_migrate_checks_applies_and_publishes(run):
    assert json.loads(run("migrate", "--check", "--json")) == {"pending": []}
    store.run("delete from job_type")
    assert "Up to date" in run("migrate")
    assert store.value("select count(*) from job_type where name = 'audio_analysis'") == 1


def test_migrate_check_names_what_is_pending(run, monkeypatch):
    files = migrate._files()
    monkeypatch.setattr(migrate, "_files", lambda: {**files, "9999_newer.sql": "select 1"})
    assert run("migrate", "--check", code=1).startswith("Pending: 9999_newer.sql. Run `jobbko migrate`.")


def test_url_is_where_the_database_is(run, database):
    assert run("url") == f"{database}\n"
    assert json.loads(run("url", "--json")) == {"url": database}


def test_what_doctor_says_stands_in_one_column(run, monkeypatch, tmp_path):
    monkeypatch.setattr("jobbko.settings.MUSIC_ROOTS", (tmp_path / "away", tmp_path))
    columns = {len(line) - len(line[16:].lstrip()) for line in run("doctor", code=1).splitlines()}
    assert columns == {17}


def test_doctor_names_faults_and_remedies(run, monkeypatch, tmp_path):
    monkeypatch.setattr("jobbko.settings.MUSIC_ROOTS", (tmp_path / "away", tmp_path))
    said = run("doctor", code=1)
    assert "Mount the disk" in said
    assert "is empty" in said
    findings = json.loads(run("doctor", "--json", code=1))["findings"]
    assert {(each["subject"], each["state"]) for each in findings} >= {("database", "ok"), ("schema", "ok")}
