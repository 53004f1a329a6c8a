"""Pausing and resuming by hand, and what the gates say."""

from __future__ import annotations

import json
import uuid

import pytest

from broker import broker
from jobbko import store

COLLECTION = "00000000-0000-0000-0000-000000000001"


@pytest.fixture(autouse=True)
def published(database):
    broker.job_types.publish()
    store.run("insert into queue_state (gate) values ('llm')")


def closed():
    return [gate for (gate,) in store.rows("select gate from queue_state where closed order by gate")]


@pytest.mark.parametrize(
    ("arguments", "gate"),
    [
        (("llm",), "llm"),
        (("--type", "audio_analysis"), "type:audio_analysis"),
        (("type:audio_analysis",), "type:audio_analysis"),
        (("--collection", COLLECTION.upper()), f"collection:{COLLECTION}"),
        (("--all",), "all"),
        (("all",), "all"),
    ],
)
def test_each_of_them_is_paused_and_resumed(run, arguments, gate):
    assert f"{gate} is paused until `jobbko resume` says otherwise" in run("pause", *arguments)
    assert closed() == [gate]
    assert f"{gate} is open" in run("resume", *arguments)
    assert closed() == []


def test_a_pause_for_a_while_says_until_when(run):
    paused = json.loads(run("pause", "llm", "--for", "2h", "--note", "invoice", "--json"))
    assert paused["paused"] == "llm"
    hours = "select round(extract(epoch from resume_at - clock_timestamp()) / 3600) from queue_state where gate = 'llm'"
    assert store.value(hours) == 2
    found = json.loads(run("gates", "--json"))["gates"][0]
    assert (found["gate"], found["reason"], found["note"]) == ("llm", "manual", "invoice")
    said = run("gates")
    assert "invoice" in said
    assert "in 2h" in said


def test_gates_shows_what_waits(run, job):
    run("pause", "--type", "audio_analysis")
    assert json.loads(run("gates", "--json"))["gates"][0]["waiting"] == 2
    assert "by hand" in run("gates")


def test_open_gates_are_shown_when_asked_for(run):
    assert "Every gate is open" in run("gates")
    assert "llm" in run("gates", "--all")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("pause", "lllm"), "No job needs lllm. Gates: "),
        (
            ("pause", "--type", "audio_analysi"),
            "There is no job type audio_analysi. Known: ai_text_process, ",
        ),
        (("pause", "--collection", "mine"), "'mine' is not a collection's id"),
        (("pause", "--collection", str(uuid.uuid4())), "There is no collection"),
        (("resume", "llm"), "llm is not paused"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(complaint, arguments, part):
    assert part in complaint(*arguments, code=1 if "mine" in arguments else 3)
    assert closed() == []


@pytest.mark.parametrize("arguments", [(), ("llm", "--all"), ("--all", "--type", "x"), ("llm", "--for", "soon")])
def test_what_makes_no_sense_is_a_usage_error(complaint, arguments):
    complaint("pause", *arguments, code=2)
    assert closed() == []
