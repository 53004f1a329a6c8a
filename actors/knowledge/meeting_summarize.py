"""Minutes of a meeting: what was said, decided and is to be done, each point linked to the place where it was said.

Safe to repeat: the same transcript is not read twice; minutes of a changed one are a new node, and the old ones stay.
"""

from __future__ import annotations

from typing import Any

from broker import actor, completion
from jobbko.ai.calls import complete
from jobbko.errors import Charged
from jobbko.knowledge import quotes
from jobbko.knowledge.asking import wording
from jobbko.store import derived, graph, transcripts
from jobbko.store.derived import Made, Subject
from jobbko.store.transcripts import Segment

_LINE = {"type": "integer"}
_TEXT = {"type": "string", "maxLength": 2000}
_DECISION = {
    "type": "object",
    "required": ["text", "line"],
    "properties": {"text": _TEXT, "line": _LINE},
    "additionalProperties": False,
}
_ACTION = {
    "type": "object",
    "required": ["text", "line", "who", "due"],
    "properties": {"text": _TEXT, "line": _LINE, "who": {"type": "string"}, "due": {"type": "string"}},
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "required": ["title", "summary", "decisions", "actions"],
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 300},
        "summary": {"type": "string", "minLength": 1, "maxLength": 10_000},
        "decisions": {"type": "array", "items": _DECISION, "maxItems": 500},
        "actions": {"type": "array", "items": _ACTION, "maxItems": 500},
    },
    "additionalProperties": False,
}


@actor(priority=5, dedupe=True)
def meeting_summarize(meeting_node_id: str) -> dict[str, Any]:
    node = graph.node(meeting_node_id)
    segments = transcripts.segments(meeting_node_id)
    said = wording("meeting_summarize", __package__ or "", node.collection_node_id)
    read = said.hash_of([(each.start_ms, each.speaker, each.text) for each in segments])
    subject = Subject(meeting_node_id, node.collection_node_id)
    if not segments or derived.is_current(subject, "minutes", read):
        return {"meeting_node_id": meeting_node_id, "minutes": None}
    prompt = said.filled(transcript="\n".join(line(number, each) for number, each in enumerate(segments, 1)))
    answer = complete(prompt, SCHEMA, max_tokens=4000)
    if not answer.data["summary"].strip():
        raise Charged("invalid", "the model's minutes are empty")
    points = {kind: linked(answer.data[kind], segments) for kind in ("decisions", "actions")}
    title, summary = answer.data["title"].strip(), answer.data["summary"].strip()
    with completion() as done:
        minutes = graph.add(
            kind="minutes",
            title=title,
            content=written(summary, points),
            metadata={**points, "meeting_node_id": meeting_node_id},
            collection=node.collection_node_id,
        )
        graph.connect(minutes, meeting_node_id, "summary", collection=node.collection_node_id, run=answer.run)
        made = Made(answer.model, prompt.name, read, answer.run)
        derived.add(subject, "minutes", made, text=summary, payload={"node_id": minutes, "title": title, **points})
        counts = {kind: len(found) for kind, found in points.items()}
        done.result = {"meeting_node_id": meeting_node_id, "minutes": minutes, **counts}
    return dict(done.result)


def line(number: int, segment: Segment) -> str:
    speaker = f" {segment.speaker}:" if segment.speaker else ""
    return f"[{number}]{speaker} {segment.text}"


def linked(points: list[dict[str, Any]], segments: list[Segment]) -> list[dict[str, Any]]:
    """Each with the segment that it names; a point that names none is dropped, and so is a person whom nobody named."""
    text = " ".join(f"{each.speaker or ''} {each.text}" for each in segments)
    kept = []
    for each in points:
        if not (1 <= each["line"] <= len(segments) and each["text"].strip()):
            continue
        segment = segments[each["line"] - 1]
        point = {"text": each["text"].strip(), "segment_id": segment.id, "start_ms": segment.start_ms}
        if "who" in each:
            point["who"] = each["who"].strip() if quotes.named(each["who"], text) else ""
            point["due"] = each["due"].strip()[:100]
        kept.append(point)
    return kept


def written(summary: str, points: dict[str, list[dict[str, Any]]]) -> str:
    """The minutes as Markdown."""
    parts = [summary]
    if points["decisions"]:
        parts.append(
            "## Decisions\n\n" + "\n".join(f"- {each['text']} ({clock(each)})" for each in points["decisions"])
        )
    if points["actions"]:
        parts.append("## Action points\n\n" + "\n".join(map(action, points["actions"])))
    return "\n\n".join(parts)


def action(point: dict[str, Any]) -> str:
    who = f"**{point['who']}**: " if point["who"] else ""
    due = f", by {point['due']}" if point["due"] else ""
    return f"- [ ] {who}{point['text']}{due} ({clock(point)})"


def clock(point: dict[str, Any]) -> str:
    minutes, seconds = divmod(point["start_ms"] // 1000, 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
