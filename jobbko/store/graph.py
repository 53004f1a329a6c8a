"""Nodes and the edges between them: what applications write, and what jobs propose to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobbko import store
from jobbko.store.cleaning import Jsonb

sql = store.queries("graph.sql")


@dataclass(frozen=True, slots=True)
class Node:
    """collection_node_id: its own id for a collection."""

    id: str
    collection_node_id: str
    kind: str
    title: str
    content: str
    metadata: dict[str, Any]


def node(id: str) -> Node:
    """Missing if there is none."""
    return store.one(Node, sql["node"], id=id)


def metadata(id: str) -> dict[str, Any]:
    """What a node, such as a collection, is set to; {} if there is none."""
    return store.value(sql["metadata"], id=id) or {}


def add(*, kind: str, title: str, content: str, metadata: Mapping[str, Any], collection: str) -> str:
    """The id of a new node."""
    new = {"kind": kind, "title": title, "content": content, "metadata": Jsonb(dict(metadata))}
    return str(store.value(sql["add"], collection=collection, **new))


def set_metadata(id: str, metadata: Mapping[str, Any], *, title: str = "") -> None:
    """Add to what is known of a node; the title only if it has none."""
    store.run(sql["set_metadata"], id=id, metadata=Jsonb(dict(metadata)), title=title)


def linked(id: str, kind: str, *, backwards: bool = False) -> list[Node]:
    """The nodes that an edge of that kind leads to from here; backwards: from which one leads here. Oldest first."""
    return store.many(Node, sql["linked"], id=id, kind=kind, backwards=backwards)


def named(collection: str, kind: str, title: str) -> str:
    """The id of the topic or person of that name, whatever its case; a proposed one is made if there is none."""
    return str(store.value(sql["named"], collection=collection, kind=kind, title=title))


def names(collection: str, kind: str, limit: int) -> list[str]:
    return [name for (name,) in store.rows(sql["names"], collection=collection, kind=kind, limit=limit)]


def propose(source: str, target: str, kind: str, *, collection: str, quote: str = "", run: str | None = None) -> bool:
    """An edge for a person to accept or reject; False if there is one, so that what was rejected stays so."""
    return bool(_edge(source, target, kind, collection, "model", "proposed", quote, run))


def connect(source: str, target: str, kind: str, *, collection: str, run: str | None = None) -> bool:
    """An edge that says how a node came to be; nothing to decide."""
    return bool(_edge(source, target, kind, collection, "model", "accepted", "", run))


def _edge(
    source: str, target: str, kind: str, collection: str, origin: str, state: str, quote: str, run: str | None
) -> int:
    return store.run(
        sql["propose"],
        source=source,
        target=target,
        kind=kind,
        collection=collection,
        origin=origin,
        state=state,
        quote=quote,
        run=run,
    )


def set_suggest_min_chars(chars: int) -> None:
    """How long a text must be for an INSERT to start the jobs that read it."""
    store.run(sql["set_suggest_min_chars"], chars=chars)


def media(path: str, *, collection: str) -> str:
    """The id of the recording that a file is; a new one if there is none of that path in the collection."""
    return str(store.value(sql["media"], path=path, collection=collection))
