"""A tidy note of what was dictated, beside the transcript, with nothing in it that nobody said."""

import pytest

from actors.knowledge.dictation_cleanup import dictation_cleanup
from jobbko import store
from jobbko.errors import Charged
from tests.actors.knowledge.writing import derived, recording, transcribed

SAID = [(0, 5000, "eh buy milk and um 250 grams of butter"), (5000, 9000, "no wait make it bread and butter")]


@pytest.fixture
def dictation(collection):
    return recording(collection, SAID, kind="dictation")


def test_the_note_is_kept_beside_the_transcript(dictation, says):
    asked = says({"title": "Shopping", "note": "- bread\n- 250 grams of butter"})

    assert dictation_cleanup(dictation) == {
        "media_node_id": dictation,
        "cleaned": True,
        "version": 1,
        "title": "Shopping",
    }
    assert derived(dictation) == [("note", 1, True, "- bread\n- 250 grams of butter")]
    assert store.rows("select title, content from nodes where id = %(id)s", id=dictation) == [("Shopping", "")]
    assert "eh buy milk and um 250 grams of butter\nno wait make it bread and butter" in asked[0]


def test_a_second_run_asks_nobody_and_a_new_transcript_makes_a_new_version(dictation, collection, says):
    asked = says({"title": "Shopping", "note": "Butter."})
    dictation_cleanup(dictation)
    assert dictation_cleanup(dictation) == {"media_node_id": dictation, "cleaned": False}
    assert len(asked) == 1

    transcribed(collection, dictation, [(0, 1000, "only cheese, nothing else, please")])
    says({"title": "Shopping", "note": "Cheese."})
    dictation_cleanup(dictation)
    assert derived(dictation) == [("note", 1, False, "Butter."), ("note", 2, True, "Cheese.")]


@pytest.mark.parametrize(
    ("note", "why"),
    [("word " * 200, "71 characters were dictated, and the note has"), ("Butter, 500 grams.", "not dictated: 500")],
)
def test_a_note_that_says_more_than_was_dictated_is_refused(dictation, says, note, why):
    says({"title": "Shopping", "note": note})

    with pytest.raises(Charged, match=why):
        dictation_cleanup(dictation)
    assert derived(dictation) == []


def test_numbers_that_were_spoken_as_words_may_be_written_as_digits(collection, says):
    spoken = recording(collection, [(0, 5000, "call me at two hundred and fifty")])
    says({"title": "Call", "note": "Call me at 250."})

    assert dictation_cleanup(spoken)["cleaned"]
