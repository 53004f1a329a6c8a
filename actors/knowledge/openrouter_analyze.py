"""What a recording is about: title, summary, chapters, topics and people, from its transcript.

Safe to repeat: the same transcript is not read twice, an edge that is there stays as it was decided, and a title that
the owner gave stays. Chapters lie inside the recording, in order; topics and people stand in the transcript.
"""

from __future__ import annotations

from typing import Any

from broker import actor, completion
from jobbko.ai.calls import complete
from jobbko.errors import Charged
from jobbko.knowledge import proposals
from jobbko.knowledge.asking import wording
from jobbko.store import derived, graph, transcripts
from jobbko.store.derived import Made, Subject
from jobbko.store.transcripts import Segment

#: Known topics that a model is told of.
KNOWN = 150
MOST_CHAPTERS = 50
#: Seconds; a part that is shorter is none.
SHORTEST_CHAPTER = 10
_CHAPTER = {
    "type": "object",
    "required": ["start", "title"],
    "properties": {"start": {"type": "number"}, "title": {"type": "string", "maxLength": 2000}},
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "required": ["title", "summary", "topics", "people", "chapters"],
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 300},
        "summary": {"type": "string", "minLength": 1, "maxLength": 5000},
        "topics": proposals.TOPICS,
        "people": proposals.PEOPLE,
        "chapters": {"type": "array", "items": _CHAPTER, "maxItems": 1000},
    },
    "additionalProperties": False,
}


@actor(priority=5, dedupe=True)
def openrouter_analyze(media_node_id: str) -> dict[str, Any]:
    node = graph.node(media_node_id)
    segments = transcripts.segments(media_node_id)
    said = wording("openrouter_analyze", __package__ or "", node.collection_node_id)
    read = said.hash_of([(each.start_ms, each.text) for each in segments])
    subject = Subject(media_node_id, node.collection_node_id)
    if not segments or derived.is_current(subject, "analysis", read):
        return {"media_node_id": media_node_id, "analysed": False}
    known = ", ".join(graph.names(node.collection_node_id, "topic", KNOWN)) or "none"
    prompt = said.filled(topics=known, transcript="\n".join(map(line, segments)))
    answer = complete(prompt, SCHEMA)
    title, summary = answer.data["title"].strip(), answer.data["summary"].strip()
    if not title or not summary:
        raise Charged("invalid", "the model's answer has no title or no summary")
    kept, unfounded = proposals.checked(answer.data, " ".join(each.text for each in segments))
    data = {
        "title": title,
        "summary": summary,
        "chapters": chapters(answer.data["chapters"], segments),
        "topics": [each.name for each in kept if each.kind == "topic"],
        "people": [each.name for each in kept if each.kind == "mention"],
    }
    with completion() as done:
        graph.set_metadata(media_node_id, {"analysis": data}, title=title)
        proposals.propose(media_node_id, kept, collection=node.collection_node_id, run=answer.run)
        made = Made(answer.model, prompt.name, read, answer.run)
        derived.add(subject, "analysis", made, text=summary, payload=data)
        done.result = {"media_node_id": media_node_id, "analysed": True, "unfounded": unfounded, **data}
    return dict(done.result)


def line(segment: Segment) -> str:
    """As the model reads it: whole seconds, and who speaks, if that is known."""
    speaker = f" {segment.speaker}:" if segment.speaker else ""
    return f"[{segment.start_ms // 1000}]{speaker} {segment.text}"


def chapters(given: list[dict[str, Any]], segments: list[Segment]) -> list[dict[str, Any]]:
    """In order, inside the recording, each at the beginning of a segment, none at the same place as another."""
    last = segments[-1].end_ms / 1000
    kept: list[dict[str, Any]] = []
    for each in sorted(given, key=lambda chapter: float(chapter["start"])):
        if not 0 <= each["start"] < last or not each["title"].strip():
            continue  # it is left out, and an answer that was paid for is not lost to it
        start = min((segment.start_ms / 1000 for segment in segments), key=lambda at: abs(at - each["start"]))
        if not kept or start - kept[-1]["start"] >= SHORTEST_CHAPTER:
            kept.append({"start": start, "title": each["title"].strip()})
    return kept[:MOST_CHAPTERS]
