"""Research notes about a clip: only what stands in it is a source."""

import pytest

from actors.knowledge.research_clip import research_clip
from jobbko import store
from jobbko.errors import Charged
from tests.actors.knowledge.writing import derived

ANSWER = {
    "notes": "About tides; see [the tables](https://example.org/tides).",
    "claims": [{"claim": "The tide rises 90 cm.", "quote": "The tide in Bergen rises 90 centimetres."}],
    "questions": ["Who paid for it?"],
}


def payload(node):
    return store.value("select payload from derived where subject_id = %(id)s and kind = 'research'", id=node)


def test_the_notes_are_kept_beside_the_clip_with_claims_and_questions(article, says):
    says(ANSWER)

    assert research_clip(article) == {
        "clip_node_id": article,
        "researched": True,
        "version": 1,
        "claims": 1,
        "unfounded": 0,
    }
    assert derived(article) == [("research", 1, True, ANSWER["notes"])]
    assert payload(article) == {"claims": ANSWER["claims"], "questions": ["Who paid for it?"], "sources": []}


def test_a_claim_without_its_quotation_and_a_link_to_elsewhere_are_dropped(article, says):
    says(
        {
            "notes": "See [here](https://evil.example/?q=1) or https://evil.example/x or <b>bold</b>"
            " ![](https://example.org/tides.png)[run](javascript:alert(1)).",
            "claims": [
                {"claim": "It is 190.", "quote": "The tide in Bergen rises 190 centimetres."},
                {"claim": " ", "quote": "The tide in Bergen rises 90 centimetres."},
            ],
            "questions": ["a", "a", " ", "b", "c", "d", "e", "f"],
        }
    )
    assert research_clip(article)["unfounded"] == 2

    assert payload(article)["claims"] == []
    assert payload(article)["questions"] == ["a", "b", "c", "d", "e"]
    text = derived(article)[0][3]
    assert "evil.example" not in text
    assert "javascript" not in text
    assert "<b>" not in text
    assert "https" not in text
    assert "See here or" in text


def test_a_second_run_asks_nobody(article, says):
    asked = says(ANSWER)
    research_clip(article)

    assert research_clip(article) == {"clip_node_id": article, "researched": False}
    assert len(asked) == 1


def test_notes_of_nothing_but_markup_are_no_success(article, says):
    says({**ANSWER, "notes": "<br>"})
    with pytest.raises(Charged, match="empty"):
        research_clip(article)
    assert derived(article) == []
