"""Transcripts read by the real local models: what was said is found by what it means."""

from __future__ import annotations

import pytest

from actors.knowledge.generate_embeddings import generate_embeddings
from jobbko.ai.calls import embed
from jobbko.localai import models
from jobbko.store import embeddings
from tests.actors.knowledge.writing import collection_node, recording

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("database", "gateway")]

#: Half a minute on each thing, so that each is a passage of its own.
TALK = [
    "The harbour was frozen that winter, and the fishing boats could not leave for eleven weeks. " * 3,
    "My grandmother baked bread every Friday, with rye flour and a spoon of black treacle. " * 3,
    "The city council has decided that the tram line to the airport will open two years late. " * 3,
    "A violin is tuned in fifths: G, D, A and E, from the lowest string to the highest. " * 3,
]


@pytest.mark.parametrize(
    ("question", "minute"),
    [
        ("Why did the ships stay in port?", 0),
        ("a recipe for a loaf", 1),
        ("delay of public transport", 2),
        ("strings of a musical instrument", 3),
    ],
)
def test_a_question_finds_the_place_where_it_was_spoken_of(question, minute):
    collection = collection_node()
    talk = recording(collection, [(at * 60_000, at * 60_000 + 30_000, text) for at, text in enumerate(TALK)])
    result = generate_embeddings(talk)
    model, (vector,) = embed([question])

    assert result["passages"] == 4
    assert model == result["model"] == models.EMBEDDING_NAME
    best = embeddings.search(collection, model, vector, limit=1)[0]
    assert (best.node_id, best.start_ms) == (talk, minute * 60_000)
