"""Read a text and propose what it is about and whom it mentions, for a person to accept or reject.

Started by the database for every new text that is long enough. A proposal is kept only with a quotation that is in the
text. Safe to repeat: an edge that is there stays as it was decided, and the same text is not read twice.
"""

from __future__ import annotations

from typing import Any

from broker import actor, completion
from jobbko.ai.calls import complete
from jobbko.knowledge import proposals
from jobbko.knowledge.asking import wording
from jobbko.store import derived, graph, transcripts
from jobbko.store.derived import Made, Subject

#: Known topics that a model is told of.
KNOWN = 150
SCHEMA = {
    "type": "object",
    "required": ["topics", "people"],
    "properties": {"topics": proposals.TOPICS, "people": proposals.PEOPLE},
    "additionalProperties": False,
}


@actor(priority=5, dedupe=True)
def suggest_edges(node_id: str) -> dict[str, Any]:
    node = graph.node(node_id)
    text = node.content or transcripts.text(node_id)
    said = wording("suggest_edges", __package__ or "", node.collection_node_id)
    read = said.hash_of(node.title, text)
    subject = Subject(node_id, node.collection_node_id)
    if not text.strip() or derived.is_current(subject, "topics", read):
        return {"node_id": node_id, "proposed": 0, "unfounded": 0}
    known = ", ".join(graph.names(node.collection_node_id, "topic", KNOWN)) or "none"
    prompt = said.filled(topics=known, document=f"{node.title}\n\n{text}" if node.title else text)
    answer = complete(prompt, SCHEMA)
    kept, unfounded = proposals.checked(answer.data, f"{node.title}\n{text}")
    with completion() as done:
        made = proposals.propose(node_id, kept, collection=node.collection_node_id, run=answer.run)
        found = {"topics": [[each.kind, each.name] for each in kept]}
        derived.add(subject, "topics", Made(answer.model, prompt.name, read, answer.run), payload=found)
        done.result = {"node_id": node_id, "proposed": made, "unfounded": unfounded}
    return dict(done.result)
