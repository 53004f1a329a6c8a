"""Research notes about a clip: what it claims, with quotations, and what is to be asked.

Only what stands in the clip counts as a source: a claim without its quotation is dropped, a link that is not in it
loses its address. Safe to repeat: the same clip is not read twice.
"""

from __future__ import annotations

from typing import Any

from broker import actor, completion
from jobbko.ai.calls import complete
from jobbko.errors import Charged
from jobbko.knowledge import quotes
from jobbko.knowledge.asking import wording
from jobbko.knowledge.links import only_known
from jobbko.store import derived, graph
from jobbko.store.derived import Made, Subject

_CLAIM = {
    "type": "object",
    "required": ["claim", "quote"],
    "properties": {
        "claim": {"type": "string", "maxLength": 2000},
        "quote": {"type": "string", "maxLength": 2000},
    },
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "required": ["notes", "claims", "questions"],
    "properties": {
        "notes": {"type": "string", "minLength": 1, "maxLength": 10_000},
        "claims": {"type": "array", "items": _CLAIM, "maxItems": 500},
        "questions": {"type": "array", "items": {"type": "string", "maxLength": 2000}, "maxItems": 500},
    },
    "additionalProperties": False,
}


@actor(priority=10, dedupe=True)
def research_clip(clip_node_id: str) -> dict[str, Any]:
    node = graph.node(clip_node_id)
    said = wording("research_clip", __package__ or "", node.collection_node_id)
    address = str(node.metadata.get("url") or "")
    read, subject = said.hash_of(node.title, node.content, address), Subject(clip_node_id, node.collection_node_id)
    if not node.content.strip() or derived.is_current(subject, "research", read):
        return {"clip_node_id": clip_node_id, "researched": False}
    prompt = said.filled(clip="\n\n".join(filter(None, [node.title, address, node.content])))
    answer = complete(prompt, SCHEMA, max_tokens=3000)
    notes = only_known(answer.data["notes"], f"{address} {node.content}").strip()
    if not notes:
        raise Charged("invalid", "the model's notes are empty")
    claims = [
        each for each in answer.data["claims"] if each["claim"].strip() and quotes.found(each["quote"], node.content)
    ]
    questions = [each.strip() for each in dict.fromkeys(answer.data["questions"]) if each.strip()][:5]
    data = {"claims": claims[:8], "questions": questions, "sources": [address] if address else []}
    with completion() as done:
        made = Made(answer.model, prompt.name, read, answer.run)
        version = derived.add(subject, "research", made, text=notes, payload=data, format="markdown")
        unfounded = len(answer.data["claims"]) - len(claims)
        done.result = {
            "clip_node_id": clip_node_id,
            "researched": True,
            "version": version,
            "claims": len(data["claims"]),
            "unfounded": unfounded,
        }
    return dict(done.result)
