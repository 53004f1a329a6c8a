"""Topics and mentions that a model found in a text, checked against the text, and proposed as edges."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from jobbko.knowledge import quotes
from jobbko.store import graph

#: Characters of the name of a topic or a person.
LONGEST_NAME = 60
#: Of each kind, for one text.
MOST = 8

_NAMED = {
    "type": "object",
    "required": ["name", "quote"],
    "properties": {
        "name": {"type": "string", "maxLength": 2000},
        "quote": {"type": "string", "maxLength": 2000},
    },
    "additionalProperties": False,
}
#: What a model is asked for, whichever job asks. Wide bounds: one name that is none is dropped, and an answer that was
#: paid for is not lost to it.
TOPICS = {"type": "array", "items": _NAMED, "maxItems": 500}
PEOPLE = TOPICS


@dataclass(frozen=True, slots=True)
class Proposal:
    kind: str  # topic or mention: the edge
    name: str
    quote: str


def checked(answer: dict[str, Any], source: str) -> tuple[list[Proposal], int]:
    """What stands in the source, and how many did not: a topic by its quotation, a mention by its name too."""
    kept: list[Proposal] = []
    given = [("topic", each) for each in answer.get("topics", [])] + [
        ("mention", each) for each in answer.get("people", [])
    ]
    for kind, each in given:
        name = tidy(each["name"])
        there = quotes.found(each["quote"], source) and (kind == "topic" or quotes.named(name, source))
        again = any((one.kind, one.name.casefold()) == (kind, name.casefold()) for one in kept)
        if name and there and not again and sum(one.kind == kind for one in kept) < MOST:
            kept.append(Proposal(kind, name, each["quote"].strip()))
    return kept, len(given) - len(kept)


def propose(node_id: str, proposals: Iterable[Proposal], *, collection: str, run: str) -> int:
    """Edges to topics and people, made if they are new; how many edges were not there before."""
    made = 0
    for each in proposals:
        target = graph.named(collection, "topic" if each.kind == "topic" else "person", each.name)
        if target != node_id:
            made += graph.propose(node_id, target, each.kind, collection=collection, quote=each.quote, run=run)
    return made


def tidy(name: str) -> str:
    """One spelling: no marks around it, single spaces; "" for what is no name."""
    name = re.sub(r"[\s_]+", " ", name).strip(" #.,;:!?\"'“”«»()[]{}<>*`-")
    return name if len(name) <= LONGEST_NAME and re.search(r"\w", name) else ""
