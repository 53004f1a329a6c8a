"""Minutes of a meeting, each point linked to where it was said."""

import pytest

from actors.knowledge.meeting_summarize import meeting_summarize
from jobbko import store
from jobbko.errors import Charged
from tests.actors.knowledge.writing import edges, recording, transcribed

SAID = [
    (0, 4000, "Welcome everybody."),
    (65000, 70000, "So we take the blue one. Kari orders it by Monday."),
    (3700000, 3705000, "And somebody must call the printer."),
]
ANSWER = {
    "title": "The poster",
    "summary": "They chose a poster.",
    "decisions": [{"text": "The blue poster is taken.", "line": 2}],
    "actions": [
        {"text": "Order the poster", "line": 2, "who": "Kari", "due": "Monday"},
        {"text": "Call the printer", "line": 3, "who": "", "due": ""},
    ],
}


@pytest.fixture
def meeting(collection):
    return recording(collection, SAID, kind="meeting")


def minutes(result):
    (found,) = store.rows("select kind, title, content, metadata from nodes where id = %(id)s", id=result["minutes"])
    return found


def test_the_minutes_are_a_node_with_an_edge_back_and_links_to_the_segments(meeting, says):
    asked = says(ANSWER)
    result = meeting_summarize(meeting)

    kind, title, content, metadata = minutes(result)
    assert (kind, title) == ("minutes", "The poster")
    assert content == (
        "They chose a poster.\n\n"
        "## Decisions\n\n- The blue poster is taken. (0:01:05)\n\n"
        "## Action points\n\n"
        "- [ ] **Kari**: Order the poster, by Monday (0:01:05)\n"
        "- [ ] Call the printer (1:01:40)"
    )
    segments = [
        id for (id,) in store.rows("select s.id from transcription_segments s join transcriptions t on"
        " t.id = s.transcription_id where t.media_node_id = %(id)s order by idx", id=meeting)
    ]  # fmt: skip
    assert [each["segment_id"] for each in metadata["actions"]] == segments[1:]
    assert edges(result["minutes"]) == [("summary", "", "accepted", "")]
    assert (result["decisions"], result["actions"]) == (1, 2)
    assert "\n[2] So we take the blue one." in asked[0]


def test_a_second_run_asks_nobody_and_writes_no_second_minutes(meeting, says):
    asked = says(ANSWER)
    meeting_summarize(meeting)

    assert meeting_summarize(meeting) == {"meeting_node_id": meeting, "minutes": None}
    assert len(asked) == 1
    assert store.value("select count(*) from nodes where kind = 'minutes'") == 1


def test_a_point_without_a_line_is_dropped_and_a_stranger_is_nobody(meeting, says):
    wrong = [{"text": "Buy paper", "line": line, "who": "", "due": ""} for line in (0, 4, -1)]
    wrong.append({"text": " ", "line": 1, "who": "", "due": ""})
    stranger = {"text": "Order the poster", "line": 2, "who": "Napoleon", "due": "Monday"}
    says({**ANSWER, "decisions": [], "actions": [*wrong, stranger]})

    (action,) = minutes(meeting_summarize(meeting))[3]["actions"]
    assert (action["text"], action["who"], action["due"]) == ("Order the poster", "", "Monday")


def test_who_speaks_is_told_and_may_be_named(collection, says):
    meeting = recording(collection, [(0, 1000, "I will do it.")], speaker="Ola")
    asked = says({**ANSWER, "decisions": [], "actions": [{"text": "Do it", "line": 1, "who": "Ola", "due": ""}]})

    assert minutes(meeting_summarize(meeting))[3]["actions"][0]["who"] == "Ola"
    assert "[1] Ola: I will do it." in asked[0]


def test_a_changed_transcript_gets_minutes_of_its_own(meeting, collection, says):
    says(ANSWER)
    first = meeting_summarize(meeting)
    transcribed(collection, meeting, SAID[:2])
    second = meeting_summarize(meeting)

    assert first["minutes"] != second["minutes"]
    assert store.value("select count(*) from nodes where kind = 'minutes'") == 2


def test_empty_minutes_are_no_success(meeting, says):
    says({**ANSWER, "summary": " \n"})

    with pytest.raises(Charged, match="empty"):
        meeting_summarize(meeting)
    assert store.value("select count(*) from nodes where kind = 'minutes'") == 0
