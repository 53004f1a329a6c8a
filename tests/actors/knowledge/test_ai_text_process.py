"""What an editor's button does: a result beside the text, the text itself untouched."""

import pytest

from actors.knowledge.ai_text_process import ai_text_process
from jobbko import store
from jobbko.errors import Charged, Permanent
from tests.actors.knowledge.writing import derived

CLEAN = "The tide in Bergen rises 90 centimetres. Johan Falk measured it in 1887 with a float. See his tables."
FACT = {"fact": "The tide in Bergen rises 90 cm.", "quote": "The tide in Bergen rises 90 centimetres."}


@pytest.mark.parametrize(
    ("action", "kind", "text"),
    [("clean", "clean", CLEAN), ("summarise", "summary", "About tides."), ("rewrite", "rewrite", "Tides, in short.")],
)
def test_the_result_is_a_version_beside_the_text(article, says, action, kind, text):
    before = store.rows("select title, content, metadata from nodes where id = %(id)s", id=article)
    says({"text": text})

    assert ai_text_process(article, action) == {"node_id": article, "action": action, "version": 1}
    assert derived(article) == [(kind, 1, True, text)]
    assert store.rows("select title, content, metadata from nodes where id = %(id)s", id=article) == before


def test_facts_are_kept_with_a_quotation_that_is_in_the_text(article, says):
    says({"facts": [FACT, {"fact": "Falk was rich.", "quote": "Johan Falk was a rich man"}, {**FACT, "fact": ""}]})
    ai_text_process(article, "extract_facts")

    assert derived(article) == [("facts", 1, True, "The tide in Bergen rises 90 cm.")]
    assert store.value("select payload from derived where subject_id = %(id)s", id=article) == {
        "facts": [FACT],
        "unfounded": 2,
    }


def test_what_the_editor_asks_for_is_told_outside_of_the_data(article, says):
    asked = says({"text": "Short."})
    ai_text_process(article, "rewrite", "In $20 words, for $names")

    data, told = asked[0].rsplit("</data-", 1)
    assert "The editor asks: In ＄20 words, for ＄names" in told
    assert "The tide in Bergen" in data


def test_the_same_again_asks_nobody_and_another_instruction_makes_another_version(article, says):
    asked = says({"text": "Short."})
    for instruction in ("shorter", "shorter", "in verse"):
        ai_text_process(article, "rewrite", instruction)

    assert len(asked) == 2
    assert [(version, current) for _, version, current, _ in derived(article)] == [(1, False), (2, True)]


@pytest.mark.parametrize(
    ("action", "instruction", "why"),
    [("translate", None, "none of clean, summarise, extract_facts, rewrite"), ("rewrite", "x" * 2001, "at most 2000")],
)
def test_what_can_never_work_is_dead_at_once(article, action, instruction, why):
    with pytest.raises(Permanent, match=why):
        ai_text_process(article, action, instruction)


@pytest.mark.parametrize(("action", "text"), [("clean", "Short."), ("clean", CLEAN * 3), ("summarise", "<p>  </p>")])
def test_a_mended_text_of_another_length_and_an_empty_one_are_refused(article, says, action, text):
    says({"text": text})
    with pytest.raises(Charged):
        ai_text_process(article, action)
    assert derived(article) == []


def test_a_recording_is_processed_from_its_transcript(speech, says):
    asked = says({"text": "A speech."})
    ai_text_process(speech, "summarise")

    assert "conceived in liberty" in asked[0]
