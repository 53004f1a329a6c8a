"""The model itself: one recording at a time, with as many threads as the request allows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jobbko.errors import UserError
from jobbko.whisper.models import Model

if TYPE_CHECKING:
    from jobbko.audio.sound import Samples

#: Whisper is tried again with more chance in it while its answer repeats itself (openai/whisper, transcribe.py).
FALLBACKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True, slots=True)
class Request:
    """language: ISO 639-1, "" to detect it; prompt: words that occur; threads: 0 for what the machine has."""

    language: str = ""
    prompt: str = ""
    temperature: float = 0.0
    words: bool = False
    threads: int = 0


@dataclass
class Transcript:
    """duration: seconds; segments: as OpenAI's verbose_json has them."""

    language: str
    duration: float
    segments: list[dict[str, Any]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(each["text"] for each in self.segments).strip()


class Stopped(Exception):
    """Nobody waits for the answer any more."""


class Transcriber:
    """UserError if the model cannot be loaded."""

    def __init__(self, model: Model, threads: int = 0) -> None:
        self.model = model
        self._usual = threads
        self.threads = threads
        self._whisper = self._loaded(threads)
        self.multilingual = bool(self._whisper.model.is_multilingual)

    def languages(self) -> set[str]:
        return set(self._whisper.supported_languages)

    def transcribe(self, samples: Samples, asked: Request, stop: threading.Event) -> Transcript:
        """samples: mono, 16 bits, 16 kHz. Stopped as soon as `stop` is set, which is looked at between segments."""
        import numpy

        self._take_threads(asked.threads or self._usual)
        sound = samples.astype(numpy.float32) / 32768
        segments, info = self._whisper.transcribe(
            sound,
            language=asked.language or None,
            initial_prompt=asked.prompt or None,
            temperature=list(FALLBACKS) if asked.temperature == 0 else asked.temperature,
            word_timestamps=asked.words,
            vad_filter=True,  # in silence Whisper hears "Thanks for watching"
            condition_on_previous_text=False,  # else one mistake repeats itself to the end
        )
        made = Transcript(info.language, float(info.duration))
        for each in _described(segments):
            if stop.is_set():
                raise Stopped
            made.segments.append(each)
        return made

    def _take_threads(self, threads: int) -> None:
        """CTranslate2 settles the number of threads when it loads a model, so another number means loading it anew."""
        if threads != self.threads:
            self._whisper = self._loaded(threads)
            self.threads = threads

    def _loaded(self, threads: int) -> Any:
        from faster_whisper import WhisperModel

        try:
            return WhisperModel(self.model.source, device="cpu", compute_type="int8", cpu_threads=threads)
        except (RuntimeError, OSError, ValueError) as error:
            raise UserError(f"The speech model {self.model.source} cannot be loaded: {error}.") from None


def _described(segments: Any) -> Iterator[dict[str, Any]]:
    for number, each in enumerate(segments):
        described: dict[str, Any] = {
            "id": number,
            "seek": each.seek,
            "start": round(each.start, 3),
            "end": round(each.end, 3),
            "text": each.text,
            "tokens": list(each.tokens),
            "temperature": each.temperature,
            "avg_logprob": each.avg_logprob,
            "compression_ratio": each.compression_ratio,
            "no_speech_prob": each.no_speech_prob,
        }
        if each.words is not None:
            described["words"] = [
                {"start": round(word.start, 3), "end": round(word.end, 3), "word": word.word} for word in each.words
            ]
        yield described
