"""Whatever speaks OpenAI's transcription API: jobbko whisper-server, speaches, faster-whisper-server, OpenAI.

https://platform.openai.com/docs/api-reference/audio/createTranscription
"""

from __future__ import annotations

from jobbko import clients
from jobbko.clients.reply import Reply

SERVICE = "whisper"


def transcribe(
    url: str,
    key: str,
    audio: bytes,
    *,
    model: str,
    language: str = "",
    prompt: str = "",
    threads: int | None = None,
    timeout: float,
) -> Reply:
    """url: up to and including /v1; audio: a WAV file; threads: of the processor, for our own server.

    The answer has segments and, where the server can, words with their times.
    """
    asked: dict[str, str | list[str]] = {
        "model": model,
        "response_format": "verbose_json",
        "temperature": "0",
        "timestamp_granularities[]": ["word", "segment"],
        # speaches leaves times out unless it is told not to: one cue for the whole file (speaches #486).
        "without_timestamps": "false",
    }
    asked |= {name: said for name, said in (("language", language), ("prompt", prompt)) if said}
    if threads is not None:
        asked["threads"] = str(threads)
    return clients.exchange(
        "POST",
        f"{url.rstrip('/')}/audio/transcriptions",
        service=SERVICE,
        provider="openai",
        timeout=timeout,
        data=asked,
        files={"file": ("piece.wav", audio, "audio/wav")},
        headers={"Authorization": f"Bearer {key}"} if key else {},
    )
