"""The whole way of a recording through the queue: transcript, analysis, vectors; by a real worker, a scripted model."""

import json

import pytest

from broker import _caller, broker
from jobbko import clients, store
from jobbko.ai import calls
from jobbko.engine import gates
from jobbko.store import embeddings
from jobbko.testing.gateway import completion, vectors
from jobbko.testing.queue import drain
from pipelines import recordings
from tests.actors.knowledge.writing import collection_node, edges
from tests.ai.conftest import gateway as gateway

SRT = """1
00:00:00,000 --> 00:00:05,000
Welcome to the harbour radio, this is Kari.

2
00:00:30,000 --> 00:00:36,000
The ferry to Askøy is cancelled because of the storm.
"""
ANALYSIS = {
    "title": "Harbour radio",
    "summary": "A ferry is cancelled.",
    "topics": [{"name": "ferry", "quote": "The ferry to Askøy is cancelled"}],
    "people": [{"name": "Kari", "quote": "this is Kari"}],
    "chapters": [{"start": 0, "title": "Welcome"}, {"start": 30, "title": "Ferry"}],
}
MINUTES = {"title": "Radio", "summary": "A ferry is cancelled.", "decisions": [], "actions": []}
NOTE = {"title": "Radio", "note": "The ferry is cancelled."}


@pytest.fixture
def model(database, gateway, monkeypatch):
    """Answers what each job asks for; a text's vector is how often it says ferry, and one."""
    monkeypatch.setattr(clients, "permit", gates.permit)
    monkeypatch.setattr(calls, "caller", _caller)
    broker.job_types.publish()

    def answer(asked):
        if asked.path.endswith("/embeddings"):
            return vectors(*([float(text.count("ferry")), 1.0] for text in asked.body["input"]))
        wanted = asked.body["response_format"]["json_schema"]["schema"]["properties"]
        return completion(
            json.dumps(next(each for each in (ANALYSIS, MINUTES, NOTE, TOPICS) if each.keys() == wanted.keys()))
        )

    gateway.script = answer
    return gateway


TOPICS = {"topics": ANALYSIS["topics"], "people": []}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "talk.srt"
    path.write_text(SRT)
    return str(path)


def node(kind):
    return store.value(
        "insert into nodes (collection_node_id, kind) values (%(of)s, %(kind)s) returning id",
        of=collection_node(),
        kind=kind,
    )


def run(flow, collection):
    for message in flow.messages:
        broker.enqueue(message.copy(options={"collection": collection}))
    drain(broker)


def collection_of(media):
    return store.value("select collection_node_id from nodes where id = %(id)s", id=media)


def ran():
    return store.rows("select job_type, status::text from job_queue order by completed_at, job_type")


def test_a_transcript_is_analysed_and_can_be_searched(model, file):
    media = node("media")
    collection = collection_of(media)
    run(recordings.transcribed(file, media), collection)

    assert ran() == [
        ("srt_parse", "completed"),
        ("openrouter_analyze", "completed"),
        ("generate_embeddings", "completed"),
    ]
    assert store.value("select title from nodes where id = %(id)s", id=media) == "Harbour radio"
    assert [(kind, title) for kind, title, _, _ in edges(media)] == [("topic", "ferry"), ("mention", "Kari")]
    (found,) = embeddings.search(collection, "m", [1.0, 0.0], limit=1)
    assert (found.node_id, found.start_ms) == (media, 0)
    assert store.rows("select distinct collection_node_id from job_queue") == [(collection,)]


def test_the_same_file_again_is_followed_by_nothing(model, file):
    media = node("media")
    for _ in range(2):
        run(recordings.transcribed(file, media), collection_of(media))

    assert [job for job, _ in ran()].count("srt_parse") == 2
    assert len(ran()) == 4
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    ("kind", "jobs"),
    [
        ("meeting", ["generate_embeddings", "meeting_summarize", "srt_parse", "suggest_edges"]),
        ("dictation", ["dictation_cleanup", "generate_embeddings", "srt_parse", "suggest_edges"]),
    ],
)
def test_its_kind_decides_what_follows(model, file, kind, jobs):
    media = node(kind)
    run(recordings.transcribed(file, media), collection_of(media))

    assert sorted(ran()) == [(job, "completed") for job in jobs]


def test_a_transcript_that_an_application_sends_by_sql_goes_the_same_way(model, file):
    media = node("media")
    store.run(
        "insert into job_queue (collection_node_id, job_type, payload) values (%(of)s, 'srt_parse', %(payload)s)",
        of=collection_of(media),
        payload=json.dumps({"path": file, "media_node_id": media}),
    )
    drain(broker)

    assert [job for job, _ in ran()] == ["srt_parse", "openrouter_analyze", "generate_embeddings"]
