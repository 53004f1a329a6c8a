"""The summary of a conversation, as a node of its own with an edge back."""

import pytest

from actors.knowledge.summarize_communication import summarize_communication
from jobbko import store
from jobbko.errors import Charged
from tests.actors.knowledge.writing import edges

ANSWER = {"title": "Lunch", "summary": "They meet at noon.", "points": [{"text": "Noon at the harbour", "line": 2}]}


@pytest.fixture
def chat(collection):
    """Two messages, and one that is empty."""
    (chat, *messages) = (
        store.value(
            "insert into nodes (collection_node_id, kind, title, content, created_at) values (%(of)s, %(kind)s, %(by)s,"
            " %(text)s, now() + %(at)s * interval '1 second') returning id",
            of=collection,
            kind=kind,
            by=by,
            text=text,
            at=at,
        )
        for at, (kind, by, text) in enumerate(
            [
                ("communication", "", ""),
                ("message", "Kari", "Lunch?"),
                ("message", "Ola", "Noon at the harbour."),
                ("message", "Ola", " "),
            ]
        )
    )
    for message in messages:
        store.run(
            "insert into edges (collection_node_id, source_id, target_id, kind)"
            " values (%(of)s, %(message)s, %(chat)s, 'part_of')",
            of=collection,
            message=message,
            chat=chat,
        )
    return chat, messages


def test_the_summary_has_an_edge_back_and_its_points_the_messages_that_they_come_from(chat, says):
    chat, messages = chat
    asked = says(ANSWER)
    result = summarize_communication(chat)

    assert store.rows(
        "select kind, title, content, metadata->'points' from nodes where id = %(id)s", id=result["summary"]
    ) == [
        (
            "summary",
            "Lunch",
            "They meet at noon.\n\n- Noon at the harbour",
            [{"text": "Noon at the harbour", "source": messages[1]}],
        )
    ]
    assert edges(result["summary"]) == [("summary", "", "accepted", "")]
    assert "\n[1] Kari: Lunch?\n[2] Ola: Noon at the harbour.\n<" in asked[0]


def test_a_second_run_asks_nobody_and_a_conversation_that_went_on_is_summarised_again(chat, collection, says):
    chat, messages = chat
    asked = says(ANSWER)
    summarize_communication(chat)
    assert summarize_communication(chat) == {"communication_node_id": chat, "summary": None}
    assert len(asked) == 1

    store.run("update nodes set content = 'Noon it is.' where id = %(id)s", id=messages[2])
    assert summarize_communication(chat)["summary"] is not None
    assert len(asked) == 2


def test_a_meeting_is_summarised_from_its_transcript(speech, says):
    asked = says(
        {**ANSWER, "points": [{"text": "Liberty", "line": 2}, {"text": "nowhere", "line": 99}, {"text": "", "line": 1}]}
    )

    assert summarize_communication(speech)["points"] == 1
    assert "[2] upon this continent, a new nation" in asked[0]


def test_a_node_with_nothing_but_a_text_is_summarised_line_by_line(article, says):
    asked = says({**ANSWER, "points": []})
    summarize_communication(article)

    assert "[1] The tide in Bergen" in asked[0]


def test_an_empty_summary_is_no_success(chat, says):
    says({**ANSWER, "summary": " "})
    with pytest.raises(Charged, match="empty"):
        summarize_communication(chat[0])
    assert store.value("select count(*) from nodes where kind = 'summary'") == 0
