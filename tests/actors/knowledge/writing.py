"""What tests write into the knowledge graph and read from it, as an application would."""

from __future__ import annotations

import json
from typing import Any

from jobbko import store


def collection_node(**metadata: Any) -> str:
    return str(
        store.value(
            "insert into nodes (kind, title, metadata) values ('collection', 'Podcast', %(metadata)s) returning id",
            metadata=json.dumps(metadata),
        )
    )


def recording(collection: str, segments: list[tuple[int, int, str]], kind: str = "media", speaker: str = "") -> str:
    """A media node with a current transcript of these segments (start and end in milliseconds); its id."""
    node = store.value(
        "insert into nodes (collection_node_id, kind) values (%(collection)s, %(kind)s) returning id",
        collection=collection,
        kind=kind,
    )
    transcribed(collection, node, segments, speaker)
    return str(node)


def transcribed(collection: str, node: str, segments: list[tuple[int, int, str]], speaker: str = "") -> None:
    """Another version of its transcript."""
    store.run("update transcriptions set current = false where media_node_id = %(node)s", node=node)
    transcription = store.value(
        "insert into transcriptions (collection_node_id, media_node_id, version, source, duration_ms, input_sha256)"
        " select %(collection)s, %(node)s, 1 + count(*), 'srt', 0, '' from transcriptions"
        " where media_node_id = %(node)s returning id",
        collection=collection,
        node=node,
    )
    for idx, (start, end, text) in enumerate(segments):
        store.run(
            "insert into transcription_segments (collection_node_id, transcription_id, idx, start_ms, end_ms, text,"
            " speaker) values (%(collection)s, %(of)s, %(idx)s, %(start)s, %(end)s, %(text)s, %(speaker)s)",
            **{"collection": collection, "of": transcription, "idx": idx, "start": start, "end": end, "text": text},
            speaker=speaker,
        )


def edges(source: str) -> list[tuple[str, str, str, str]]:
    """(kind, title of the target, state, quotation), in the order of their making."""
    return store.rows(
        "select e.kind, n.title, e.state, e.quote from edges e join nodes n on n.id = e.target_id"
        " where e.source_id = %(source)s order by e.kind desc, n.title",
        source=source,
    )


def derived(node: str) -> list[tuple[str, int, bool, str]]:
    """(kind, version, current, text) of all that was made of a node."""
    return store.rows(
        "select kind, version, superseded_at is null, text from derived where subject_id = %(node)s"
        " order by kind, version",
        node=node,
    )
