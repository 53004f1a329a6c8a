"""One request to the speech server: where it is, how many threads it may take, and what its answer means."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass

from jobbko import settings
from jobbko.ai.verdicts import error_for, judge
from jobbko.clients import livekit, speech
from jobbko.errors import GateClosed
from jobbko.speech import heard
from jobbko.speech.heard import Said

#: Threads of the processor while somebody is in a call.
LOW = 2
#: Seconds for which what LiveKit said is taken to hold.
KNOWN_FOR = 10.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """language: ISO 639-1, or "" to have it detected; prompt: names that occur, as the model is to spell them."""

    language: str = ""
    prompt: str = ""

    @property
    def model(self) -> str:
        return settings.WHISPER_MODEL


def hear(wav: bytes, seconds: float, wanted: Wanted) -> list[Said]:
    """What is said in one piece of that length. Raises what jobbko.ai.calls.complete raises, for the gate `whisper`."""
    if not settings.WHISPER_URL:
        said = "no speech server is configured: set JOBBKO_WHISPER_URL, or run `jobbko whisper-server`"
        raise GateClosed(speech.SERVICE, "auth", message=said)
    low = governor.low()
    elsewhere = low and settings.WHISPER_LOW_URL
    reply = speech.transcribe(
        settings.WHISPER_LOW_URL if elsewhere else settings.WHISPER_URL,
        os.environ.get("JOBBKO_WHISPER_KEY", ""),
        wav,
        model=wanted.model,
        language=wanted.language,
        prompt=wanted.prompt,
        threads=LOW if low and not elsewhere else None,
        timeout=60 + seconds * settings.WHISPER_PATIENCE,
    )
    if (verdict := judge(reply)) is not None:
        raise error_for(verdict, speech.SERVICE)
    return heard.said(reply.body, seconds)


class Governor:
    """Whether speech recognition has to leave the processor to others: while a LiveKit room has somebody in it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked_at = -KNOWN_FOR
        self._active = False

    def low(self) -> bool:
        """JOBBKO_GOVERNOR=low or full decides by itself; auto, the default, asks LiveKit, if it is configured."""
        if settings.GOVERNOR != "auto":
            return settings.GOVERNOR == "low"
        if not livekit.configured():
            return False
        with self._lock:  # one thread asks, the others wait for what it hears
            if time.monotonic() - self._asked_at >= KNOWN_FOR:
                self._active, self._asked_at = livekit.active(), time.monotonic()
            return self._active


governor = Governor()
