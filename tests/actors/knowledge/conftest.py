"""A collection with a recording, a text, and a gateway to models that says what a test tells it to."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from jobbko.cli.migrate import publish
from jobbko.store import graph
from jobbko.testing.gateway import ScriptedGateway, completion
from tests.actors.knowledge.writing import collection_node, recording
from tests.ai.conftest import gateway as gateway

#: Opening words of a public-domain speech (Abraham Lincoln, Gettysburg, 1863), as they might be transcribed.
SPEECH = [
    (0, 4000, "Four score and seven years ago our fathers brought forth,"),
    (4000, 9000, "upon this continent, a new nation, conceived in liberty,"),
    (9000, 15000, "and dedicated to the proposition that all men are created equal."),
    (30000, 36000, "Now we are engaged in a great civil war, testing whether that nation can long endure."),
    (60000, 66000, "Mary Todd will send the letter to General Meade by Friday."),
]


@pytest.fixture
def collection(database: str) -> str:
    return collection_node()


@pytest.fixture
def speech(collection: str) -> str:
    """A recording with a transcript; its node."""
    return recording(collection, SPEECH)


@pytest.fixture
def says(database: str, gateway: ScriptedGateway) -> Callable[[Any], list[str]]:
    """Have the model answer with this; what it was asked comes in the list."""

    def script(data: Any) -> list[str]:
        asked: list[str] = []

        def answer(request: Any) -> Any:
            asked.append(request.body["messages"][-1]["content"])
            return completion(data if isinstance(data, str) else json.dumps(data))

        gateway.script = answer
        return asked

    return script


@pytest.fixture
def article(collection: str) -> str:
    """A text that somebody wrote; its node."""
    return graph.add(
        kind="note",
        title="Tides",
        content="The tide in Bergen rises 90 centimetres. Johan Falk measured it in 1887 with a float. "
        "See https://example.org/tides for his tables.",
        metadata={},
        collection=collection,
    )


@pytest.fixture
def published(database: str) -> None:
    """What a worker does when it starts, so that jobs can be sent by SQL."""
    publish()
