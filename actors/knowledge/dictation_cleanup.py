"""Make a tidy note of what somebody dictated; the transcript stays as it is.

Safe to repeat: the same transcript is not read twice, and a new note supersedes the old one, which is kept.
"""

from __future__ import annotations

import re
from typing import Any

from broker import actor, completion
from jobbko.ai.calls import complete
from jobbko.errors import Charged
from jobbko.knowledge.asking import wording
from jobbko.store import derived, graph, transcripts
from jobbko.store.derived import Made, Subject

SCHEMA = {
    "type": "object",
    "required": ["title", "note"],
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 300},
        "note": {"type": "string", "minLength": 1, "maxLength": 100_000},
    },
    "additionalProperties": False,
}
#: A tidy note is shorter than what was said, and not by much longer.
LONGER = 1.5


@actor(priority=10, dedupe=True)
def dictation_cleanup(media_node_id: str) -> dict[str, Any]:
    node = graph.node(media_node_id)
    text = transcripts.text(media_node_id)
    said = wording("dictation_cleanup", __package__ or "", node.collection_node_id)
    read, subject = said.hash_of(text), Subject(media_node_id, node.collection_node_id)
    if not text.strip() or derived.is_current(subject, "note", read):
        return {"media_node_id": media_node_id, "cleaned": False}
    prompt = said.filled(transcript=text)
    answer = complete(prompt, SCHEMA, max_tokens=max(1000, len(text)))
    title, note = answer.data["title"].strip(), answer.data["note"].strip()
    check(text, note)
    with completion() as done:
        graph.set_metadata(media_node_id, {}, title=title)
        made = Made(answer.model, prompt.name, read, answer.run)
        version = derived.add(subject, "note", made, text=note, payload={"title": title}, format="markdown")
        done.result = {"media_node_id": media_node_id, "cleaned": True, "version": version, "title": title}
    return dict(done.result)


def check(text: str, note: str) -> None:
    """Charged("invalid") for a note that says more than was dictated, or has numbers that nobody said."""
    if not note or len(note) > len(text) * LONGER + 200:
        raise Charged("invalid", f"{len(text)} characters were dictated, and the note has {len(note)}")
    # Where numbers were written down as digits, a long one that is not among them was made up.
    invented = set(re.findall(r"\d{3,}", note)) - set(re.findall(r"\d{3,}", text))
    if invented and re.search(r"\d{3,}", text):
        raise Charged("invalid", f"the note has numbers that were not dictated: {', '.join(sorted(invented)[:5])}")
