"""What a recording is about, from its transcript: nothing that was not said, no chapter outside of it."""

import pytest

from actors.knowledge.openrouter_analyze import openrouter_analyze
from jobbko import store
from jobbko.errors import Charged
from tests.actors.knowledge.writing import derived, edges, recording, transcribed

ANSWER = {
    "title": "A short speech",
    "summary": "Somebody speaks of liberty, of a war, and of a letter.",
    "topics": [{"name": "liberty", "quote": "a new nation, conceived in liberty"}],
    "people": [{"name": "General Meade", "quote": "send the letter to General Meade by Friday"}],
    "chapters": [{"start": 0, "title": "Liberty"}, {"start": 30, "title": "War"}, {"start": 60, "title": "A letter"}],
}


def metadata(node):
    return store.value("select metadata from nodes where id = %(id)s", id=node)


def test_title_summary_and_chapters_are_on_the_node_and_topics_and_people_are_proposed(speech, says):
    asked = says(ANSWER)
    result = openrouter_analyze(speech)

    assert (result["analysed"], result["unfounded"]) == (True, 0)
    assert store.value("select title from nodes where id = %(id)s", id=speech) == "A short speech"
    assert metadata(speech)["analysis"] == {
        "title": "A short speech",
        "summary": "Somebody speaks of liberty, of a war, and of a letter.",
        "chapters": [
            {"start": 0.0, "title": "Liberty"},
            {"start": 30.0, "title": "War"},
            {"start": 60.0, "title": "A letter"},
        ],
        "topics": ["liberty"],
        "people": ["General Meade"],
    }
    assert [(kind, title, state) for kind, title, state, _ in edges(speech)] == [
        ("topic", "liberty", "proposed"),
        ("mention", "General Meade", "proposed"),
    ]
    assert "[30] Now we are engaged" in asked[0]


def test_a_second_run_asks_nobody(speech, says):
    asked = says(ANSWER)
    openrouter_analyze(speech)

    assert openrouter_analyze(speech) == {"media_node_id": speech, "analysed": False}
    assert len(asked) == 1


def test_a_new_transcript_is_read_again_and_the_old_analysis_kept(speech, collection, says):
    says(ANSWER)
    openrouter_analyze(speech)
    transcribed(collection, speech, [(0, 5000, "Something else was said here.")])
    says({**ANSWER, "summary": "Something else.", "topics": [], "people": [], "chapters": []})
    openrouter_analyze(speech)

    assert derived(speech) == [
        ("analysis", 1, False, "Somebody speaks of liberty, of a war, and of a letter."),
        ("analysis", 2, True, "Something else."),
    ]


def test_the_owners_title_stays(speech, says):
    store.run("update nodes set title = 'Gettysburg' where id = %(id)s", id=speech)
    says(ANSWER)
    openrouter_analyze(speech)

    assert store.value("select title from nodes where id = %(id)s", id=speech) == "Gettysburg"


def test_chapters_are_in_order_inside_the_recording_at_a_segment_and_not_on_top_of_each_other(speech, says):
    given = [
        (61, "C"),
        (-5, "before"),
        (66, "at the end"),
        (9999, "after"),
        (2, "A"),
        (4, "A again"),
        (9, ""),
        (29, "B"),
        (1, " "),
    ]
    says({**ANSWER, "chapters": [{"start": start, "title": title} for start, title in given]})

    # The segments begin at 0, 4, 9, 30 and 60 seconds, and the recording ends at 66.
    assert [(each["start"], each["title"]) for each in openrouter_analyze(speech)["chapters"]] == [
        (0.0, "A"),
        (30.0, "B"),
        (60.0, "C"),
    ]


def test_a_recording_without_a_transcript_is_nothing_to_do(collection, says):
    asked = says(ANSWER)
    silent = recording(collection, [])

    assert openrouter_analyze(silent) == {"media_node_id": silent, "analysed": False}
    assert asked == []


@pytest.mark.parametrize("empty", [{"summary": "  "}, {"title": " "}])
def test_an_empty_summary_is_no_success(speech, says, empty):
    says({**ANSWER, **empty})

    with pytest.raises(Charged, match="no title or no summary"):
        openrouter_analyze(speech)
    assert "analysis" not in metadata(speech)
