"""Transcribe a recording: its sound goes to the speech server piece by piece, and comes back as segments with times.

Safe to repeat and to interrupt: a piece that has been heard is not sent again, and the same sound, asked about in the
same way, makes no new version. Whatever the length, one piece at a time is in memory.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from broker import actor, collection, completion, report
from jobbko import settings
from jobbko.ai import hearing
from jobbko.ai.hearing import Wanted
from jobbko.audio import sound
from jobbko.audio.sound import Piece, Sound
from jobbko.errors import Charged
from jobbko.knowledge import asking
from jobbko.speech.cues import cues
from jobbko.store import graph, pieces, transcripts
from jobbko.store.transcripts import Spoken

#: Milliseconds: a day of sound on a slow machine. A server that hangs is found out by the time that each piece has.
A_WEEK = 7 * 24 * 3600 * 1000


# One at a time: a speech server takes all of a machine, and the next recording would only wait there.
@actor(priority=5, dedupe=True, max_running=1, time_limit=A_WEEK)
def whisper_transcribe(
    audio_path: str, media_node_id: str | None = None, language: str | None = None
) -> dict[str, Any]:
    node = graph.node(media_node_id) if media_node_id else None
    owner = node.collection_node_id if node else collection()
    wanted = Wanted(_language(language or ""), prompt=asking.names(owner))
    with sound.decoded(audio_path) as recording:
        read = _sha256(recording.sha256, wanted)
        now = transcripts.current(node.id) if node else None
        if node and now and (now.source, now.input_sha256) == ("whisper", read):
            return {"media_node_id": node.id, "kind": node.kind, "new": False, "duration_ms": recording.duration_ms}
        duration_ms = recording.duration_ms
        cut = sound.pieces(recording.samples, settings.WHISPER_PIECE)
        spoken: list[Spoken] = []
        used: list[str] = []
        for piece in cut:
            report(done=piece.number, total=len(cut), note="pieces")
            name, found = heard(recording, piece, wanted, owner)
            used.append(name)
            spoken += [segment(piece.start_ms, *each, after=spoken) for each in found]
    with completion() as done:
        media = node.id if node else graph.media(audio_path, collection=owner)
        new = transcripts.add(
            media,
            spoken,
            collection=owner,
            source="whisper",
            input_sha256=read,
            language=wanted.language,
            model=wanted.model,
        )
        pieces.forget(owner, used)
        done.result = {
            "media_node_id": media,
            "kind": node.kind if node else "media",
            "new": new,
            "segments": len(spoken),
            "pieces": len(cut),
            "duration_ms": duration_ms,
        }
    return dict(done.result)


def heard(recording: Sound, piece: Piece, wanted: Wanted, owner: str) -> tuple[str, list[pieces.Heard]]:
    """The name under which the piece is kept, and its cues: those that were kept, or what the server hears now."""
    samples = recording.samples[piece.start : piece.end]
    name = _sha256(hashlib.sha256(samples.tobytes()).hexdigest(), wanted)
    found = pieces.find(owner, name)
    if found is None:
        said = hearing.hear(sound.wav(samples), piece.seconds, wanted)
        found = [(round(each.start, 3), round(each.end, 3), each.text) for each in cues(said)]
        pieces.keep(owner, name, found)
    return name, found


def segment(offset_ms: int, start: float, end: float, text: str, *, after: list[Spoken]) -> Spoken:
    """In milliseconds of the recording; none begins before the one before has ended."""
    start_ms = max(offset_ms + round(start * 1000), after[-1].end_ms if after else 0)
    return Spoken(start_ms, max(offset_ms + round(end * 1000), start_ms + 1), text)


def _language(given: str) -> str:
    if given and not (given.isascii() and given.isalpha() and 2 <= len(given) <= 3):
        raise Charged("invalid", f"language {given!r} is no code of a language, such as no, nn, en or de")
    return given.lower()


def _sha256(sound_sha256: str, wanted: Wanted) -> str:
    asked = json.dumps([sound_sha256, wanted.model, wanted.language, wanted.prompt])
    return hashlib.sha256(asked.encode()).hexdigest()
