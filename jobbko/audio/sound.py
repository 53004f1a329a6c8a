"""The sound of a recording for a model that hears: decoded once, cut into pieces where it is quietest."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import subprocess
import tempfile
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobbko.audio import media
from jobbko.audio.decoding import die_with_parent, ffmpeg
from jobbko.errors import Charged

if TYPE_CHECKING:
    import numpy

    Samples = numpy.typing.NDArray[numpy.int16]

#: Samples a second: what Whisper hears.
RATE = 16_000
#: Seconds of a recording: a day, 2.8 GB on disk while it is read.
LONGEST = 24 * 3600
#: A piece ends in this last part of its greatest length, at the quietest place there.
LOOK_FOR_SILENCE = 0.1
#: Samples of a frame whose loudness is measured, and frames that must be quiet together: 20 ms and 0.3 s.
_FRAME, _QUIET = RATE // 50, 15


@dataclass(frozen=True, slots=True)
class Sound:
    """samples: mono, 16 bits, RATE a second, mapped from a file without a name; sha256: of all of them."""

    samples: Samples
    sha256: str

    @property
    def duration_ms(self) -> int:
        return round(len(self.samples) * 1000 / RATE)


@dataclass(frozen=True, slots=True)
class Piece:
    """start, end: in samples from the beginning of the recording, so that its place is exact."""

    number: int
    start: int
    end: int

    @property
    def start_ms(self) -> int:
        return round(self.start * 1000 / RATE)

    @property
    def seconds(self) -> float:
        return (self.end - self.start) / RATE


@contextlib.contextmanager
def decoded(path: str, *, upload: bool = False) -> Iterator[Sound]:
    """The first sound track. upload: of a file that we wrote ourselves, wherever it lies.

    Missing if there is no file, Charged("invalid") if ffmpeg finds no sound in it.
    """
    import numpy

    with media.opened(path, ours=upload) as file, tempfile.TemporaryFile() as raw:
        said = _decode(file, raw.fileno())
        size = os.fstat(raw.fileno()).st_size // 2 * 2
        if not size:
            raise Charged("invalid", f"{path} has no sound that ffmpeg can decode: {said[-300:] or 'it is empty'}")
        raw.seek(0)
        digest = hashlib.file_digest(raw, "sha256").hexdigest()
        yield Sound(numpy.memmap(raw, dtype="<i2", mode="r", shape=(size // 2,)), digest)


def _decode(file: media.Media, output: int) -> str:
    """What ffmpeg said about it."""
    command = [ffmpeg(), "-nostdin", "-v", "error", "-threads", "1", "-protocol_whitelist", "file,pipe"]
    command += ["-i", file.source, "-map", "0:a:0", "-t", str(LONGEST), "-ac", "1", "-ar", str(RATE), "-f", "s16le"]
    with tempfile.TemporaryFile() as messages:
        subprocess.run(
            [*command, "-"],
            stdout=output,
            stderr=messages,
            pass_fds=(file.fd,),
            preexec_fn=die_with_parent,
            check=False,
        )
        messages.seek(0)
        return messages.read(4000).decode("utf-8", "replace").strip()


def pieces(samples: Samples, longest: float) -> list[Piece]:
    """The whole recording in pieces of at most `longest` seconds; the same sound is always cut in the same places."""
    found: list[Piece] = []
    start, most = 0, int(longest * RATE)
    while len(samples) - start > most:
        look = max(_FRAME * _QUIET, int(most * LOOK_FOR_SILENCE))
        end = start + most - look + _quietest(samples[start + most - look : start + most])
        found.append(Piece(len(found), start, end))
        start = end
    return [*found, Piece(len(found), start, len(samples))]


def _quietest(samples: Samples) -> int:
    """The middle of the quietest 0.3 s, as an index."""
    import numpy

    frames = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME).astype("f4")
    energy = (frames**2).mean(axis=1)
    width = min(_QUIET, len(energy))
    around = numpy.convolve(energy, numpy.ones(width), mode="valid")
    return int((around.argmin() + width / 2) * _FRAME)


def wav(samples: Samples) -> bytes:
    """A WAV file of these samples."""
    with io.BytesIO() as memory:
        with wave.open(memory, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(samples.tobytes())
        return memory.getvalue()
