"""Summarise a conversation, a chat or a meeting, into a node of its own with an edge back to it.

Safe to repeat: the same conversation is not read twice; a summary of one that went on is a new node.
"""

from __future__ import annotations

from typing import Any

from broker import actor, completion
from jobbko.ai.calls import complete
from jobbko.errors import Charged
from jobbko.knowledge.asking import wording
from jobbko.store import derived, graph, transcripts
from jobbko.store.derived import Made, Subject

_POINT = {
    "type": "object",
    "required": ["text", "line"],
    "properties": {"text": {"type": "string", "maxLength": 2000}, "line": {"type": "integer"}},
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "required": ["title", "summary", "points"],
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 300},
        "summary": {"type": "string", "minLength": 1, "maxLength": 10_000},
        "points": {"type": "array", "items": _POINT, "maxItems": 500},
    },
    "additionalProperties": False,
}


@actor(priority=5, dedupe=True)
def summarize_communication(communication_node_id: str) -> dict[str, Any]:
    node = graph.node(communication_node_id)
    lines = conversation(node)
    said = wording("summarize_communication", __package__ or "", node.collection_node_id)
    read = said.hash_of([text for _, text in lines])
    subject = Subject(communication_node_id, node.collection_node_id)
    if not lines or derived.is_current(subject, "communication_summary", read):
        return {"communication_node_id": communication_node_id, "summary": None}
    prompt = said.filled(conversation="\n".join(f"[{number}] {text}" for number, (_, text) in enumerate(lines, 1)))
    answer = complete(prompt, SCHEMA)
    title, summary = answer.data["title"].strip(), answer.data["summary"].strip()
    if not summary:
        raise Charged("invalid", "the model's summary is empty")
    points = [
        {"text": each["text"].strip(), "source": lines[each["line"] - 1][0]}
        for each in answer.data["points"]
        if 1 <= each["line"] <= len(lines) and each["text"].strip()
    ]
    with completion() as done:
        made_node = graph.add(
            kind="summary",
            title=title,
            content="\n\n".join([summary, "\n".join(f"- {each['text']}" for each in points)]).strip(),
            metadata={"points": points, "communication_node_id": communication_node_id},
            collection=node.collection_node_id,
        )
        graph.connect(made_node, communication_node_id, "summary", collection=node.collection_node_id, run=answer.run)
        made = Made(answer.model, prompt.name, read, answer.run)
        payload = {"node_id": made_node, "title": title, "points": points}
        derived.add(subject, "communication_summary", made, text=summary, payload=payload)
        done.result = {"communication_node_id": communication_node_id, "summary": made_node, "points": len(points)}
    return dict(done.result)


def conversation(node: graph.Node) -> list[tuple[str, str]]:
    """What was said, with the id of the message or segment: nodes `part_of` it, else its transcript, else its text."""
    if messages := [each for each in graph.linked(node.id, "part_of", backwards=True) if each.content.strip()]:
        return [(each.id, f"{each.title}: {each.content}" if each.title else each.content) for each in messages]
    if segments := transcripts.segments(node.id):
        return [(each.id, f"{each.speaker}: {each.text}" if each.speaker else each.text) for each in segments]
    return [(node.id, line) for line in node.content.splitlines() if line.strip()]
