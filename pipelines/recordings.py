"""A recording is transcribed, and what follows its transcript: analysis, vectors, and what its kind asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dramatiq import pipeline

from actors.knowledge.dictation_cleanup import dictation_cleanup
from actors.knowledge.generate_embeddings import generate_embeddings
from actors.knowledge.meeting_summarize import meeting_summarize
from actors.knowledge.openrouter_analyze import openrouter_analyze
from actors.knowledge.srt_parse import srt_parse
from actors.knowledge.suggest_edges import suggest_edges
from actors.knowledge.whisper_transcribe import whisper_transcribe
from broker import follows
from pipelines import chain


def transcribed(path: str, media_node_id: str) -> pipeline:
    """Read a file of subtitles; then what `heard` says."""
    return pipeline([srt_parse.message(path=path, media_node_id=media_node_id)])


def episode(audio_path: str, media_node_id: str | None = None, language: str | None = None) -> pipeline:
    """Transcribe a recording; then what `heard` says of its node's kind: media, meeting or dictation."""
    return pipeline([whisper_transcribe.message(audio_path=audio_path, media_node_id=media_node_id, language=language)])


@follows(whisper_transcribe)
@follows(srt_parse)
def heard(result: dict[str, Any]) -> Iterator[pipeline]:
    """What a new transcript is followed by; beside the analysis the vectors, which need no answer of it.

    The node's kind decides: a meeting gets minutes, a dictation a tidy note, anything else is analysed as an episode.
    """
    if not result["new"]:
        return
    node_id = result["media_node_id"]
    match result["kind"]:
        case "meeting":
            yield chain(meeting_summarize.message(meeting_node_id=node_id))
            yield chain(suggest_edges.message(node_id=node_id))
        case "dictation":
            yield chain(dictation_cleanup.message(media_node_id=node_id))
            yield chain(suggest_edges.message(node_id=node_id))
        case _:
            # Topics and people are part of the analysis.
            yield chain(openrouter_analyze.message(media_node_id=node_id), generate_embeddings.message(node_id=node_id))
            return
    yield chain(generate_embeddings.message(node_id=node_id))
