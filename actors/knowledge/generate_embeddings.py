"""Make a node findable by what it means: its text in passages, each with a vector of the configured model.

Safe to repeat: a passage whose text has a vector keeps it, whatever moved around it, and nothing is asked for it; what
one request brought is kept when the next one fails. Another model's vectors stay beside these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg2

from broker import actor, completion, report
from jobbko.ai.calls import embed, embedding_model
from jobbko.errors import Permanent
from jobbko.knowledge import passages
from jobbko.knowledge.passages import Passage
from jobbko.store import embeddings, graph, transcripts

#: Passages in one request: an answer with 64 vectors of 3,072 numbers has some 4 MB.
BATCH = 64


@actor(priority=1, dedupe=True)
def generate_embeddings(node_id: str) -> dict[str, Any]:
    node = graph.node(node_id)
    wanted = passages.written(node.title, node.content) or passages.spoken(transcripts.segments(node_id))
    model = embedding_model()
    vectors = {bytes(each.content_hash): each.vector for each in embeddings.known(node_id, model)}
    asked = [each for each in dict.fromkeys(wanted) if each.content_hash not in vectors]
    for number, batch in enumerate(batches(asked)):
        report(embedded=number * BATCH, passages=len(asked))
        _, found = embed([each.text for each in batch])
        new = dict(zip((each.content_hash for each in batch), found, strict=True))
        vectors |= new
        # Rows of their own, since what was paid for is kept, whatever becomes of the rest.
        keep(
            node.id, model, [each for each in wanted if each.content_hash in vectors], vectors, node.collection_node_id
        )
    with completion() as done:
        keep(node.id, model, wanted, vectors, node.collection_node_id)
        done.result = {"node_id": node_id, "model": model, "passages": len(wanted), "embedded": len(asked)}
    return dict(done.result)


def batches(asked: Sequence[Passage]) -> Iterator[Sequence[Passage]]:
    for start in range(0, len(asked), BATCH):
        yield asked[start : start + BATCH]


def keep(
    node_id: str, model: str, wanted: Sequence[Passage], vectors: dict[bytes, list[float]], collection: str
) -> None:
    rows = [
        embeddings.Passage(number, each.start_ms, each.text, each.content_hash, vectors[each.content_hash])
        for number, each in enumerate(wanted)
    ]
    try:
        embeddings.replace(node_id, model, rows, collection=collection)
    except psycopg2.errors.CheckViolation as error:
        raise Permanent(f"{error.diag.message_primary}. {error.diag.message_hint}") from None
