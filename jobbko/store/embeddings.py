"""Vectors of passages, a model beside the other, and searching by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobbko import store

sql = store.queries("embeddings.sql")


@dataclass(frozen=True, slots=True)
class Passage:
    """start_ms: where it is spoken, in a transcript; vector: of any length, the same for all of a model."""

    chunk_no: int
    start_ms: int | None
    text: str
    content_hash: bytes
    vector: Sequence[float]


@dataclass(frozen=True, slots=True)
class Known:
    chunk_no: int
    start_ms: int | None
    content_hash: memoryview
    vector: list[float]


@dataclass(frozen=True, slots=True)
class Found:
    """similarity: cosine, 1 for the same; what counts as near differs from model to model."""

    node_id: str
    title: str
    chunk_no: int
    start_ms: int | None
    text: str
    similarity: float


def known(node_id: str, model: str) -> list[Known]:
    """What is stored of a node, in no order."""
    return store.many(Known, sql["known"], node_id=node_id, model=model)


def replace(node_id: str, model: str, passages: Sequence[Passage], *, collection: str) -> int:
    """These are the node's passages now; how many rows that changed. CheckViolation for vectors of another length."""
    there = {each.chunk_no: (each.start_ms, bytes(each.content_hash)) for each in known(node_id, model)}
    with store.transaction():
        if passages:
            store.run(sql["add_model"], model=model, dims=len(passages[0].vector))
        changed = store.run(sql["drop_after"], node_id=node_id, model=model, count=len(passages))
        for each in passages:
            if there.get(each.chunk_no) == (each.start_ms, each.content_hash):
                continue
            changed += store.run(
                sql["set"],
                collection=collection,
                node_id=node_id,
                model=model,
                chunk_no=each.chunk_no,
                start_ms=each.start_ms,
                text=each.text,
                content_hash=each.content_hash,
                vector=list(each.vector),
            )
    return changed


def search(collection: str, model: str, query: Sequence[float], limit: int = 10) -> list[Found]:
    """The nearest passages in a collection, best first."""
    return store.many(Found, sql["search"], collection=collection, model=model, near=list(query), limit=limit)


def index(model: str) -> bool:
    """Index a model's vectors, which pays for more than some 10,000 of them; False if pgvector is not there."""
    with store.transaction():
        return bool(store.value(sql["index"], model=model))
