"""What an editor's button does with a text: clean, summarise, extract_facts or rewrite it, beside it and never in it.

Safe to repeat: the same text with the same instruction is not read twice; a new result supersedes the old one, which is
kept. A fact without its quotation in the text is dropped.
"""

from __future__ import annotations

from typing import Any

from broker import actor, completion
from jobbko.ai.calls import Answer, complete
from jobbko.errors import Charged, Permanent
from jobbko.knowledge import quotes
from jobbko.knowledge.asking import wording
from jobbko.knowledge.links import only_known
from jobbko.store import derived, graph, transcripts
from jobbko.store.derived import Made, Subject

#: The kind of what each action makes; its prompt is in ai_text_process_<action>.md.
KINDS = {"clean": "clean", "summarise": "summary", "extract_facts": "facts", "rewrite": "rewrite"}
#: The longest instruction of a person.
LONGEST = 2000
MOST_FACTS = 30
_FACT = {
    "type": "object",
    "required": ["fact", "quote"],
    "properties": {
        "fact": {"type": "string", "maxLength": 2000},
        "quote": {"type": "string", "maxLength": 2000},
    },
    "additionalProperties": False,
}


def _schema(name: str, of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": [name], "properties": {name: of}, "additionalProperties": False}


TEXT = _schema("text", {"type": "string", "minLength": 1, "maxLength": 200_000})
FACTS = _schema("facts", {"type": "array", "items": _FACT, "maxItems": 500})


@actor(priority=10, dedupe=True)
def ai_text_process(node_id: str, action: str, instruction: str | None = None) -> dict[str, Any]:
    if action not in KINDS:
        raise Permanent(f"action {action!r} is none of {', '.join(KINDS)}")
    if len(instruction or "") > LONGEST:
        raise Permanent(f"an instruction has at most {LONGEST} characters, and this one {len(instruction or '')}")
    node = graph.node(node_id)
    text = node.content or transcripts.text(node_id)
    kind = KINDS[action]
    said = wording(f"ai_text_process_{action}", __package__ or "", node.collection_node_id).told(instruction or "")
    read, subject = said.hash_of(text), Subject(node_id, node.collection_node_id)
    if not text.strip() or derived.is_current(subject, kind, read):
        return {"node_id": node_id, "action": action, "version": None}
    prompt = said.filled(document=text)
    answer = complete(prompt, FACTS if action == "extract_facts" else TEXT, max_tokens=max(1000, len(text)))
    made, payload = result(action, answer, text)
    with completion() as done:
        how = Made(answer.model, prompt.name, read, answer.run)
        version = derived.add(subject, kind, how, text=made, payload=payload)
        done.result = {"node_id": node_id, "action": action, "version": version}
    return dict(done.result)


def result(action: str, answer: Answer, source: str) -> tuple[str, dict[str, Any] | None]:
    """The text and, for facts, the data. Charged("invalid") for nothing, and for a mended text of another length."""
    if action == "extract_facts":
        given = answer.data["facts"]
        facts = [each for each in given if each["fact"].strip() and quotes.found(each["quote"], source)][:MOST_FACTS]
        return "\n".join(each["fact"].strip() for each in facts), {"facts": facts, "unfounded": len(given) - len(facts)}
    text = only_known(answer.data["text"], source).strip()
    if not text:
        raise Charged("invalid", f"the model's answer to {action!r} is empty")
    if action == "clean" and not 0.5 <= len(text) / len(source.strip()) <= 1.5:
        raise Charged("invalid", f"the text has {len(source)} characters, and mended it has {len(text)}")
    return text, None
