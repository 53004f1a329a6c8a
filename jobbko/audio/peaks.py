"""The peaks of a recording, to draw its waveform by: BBC audiowaveform's format, version 2, in constant memory.

https://github.com/bbc/audiowaveform/blob/master/doc/DataFormat.md
"""

from __future__ import annotations

import hashlib
import struct
import subprocess
import tempfile
from dataclasses import dataclass

from jobbko.audio import media
from jobbko.audio.decoding import die_with_parent, ffmpeg
from jobbko.errors import Charged

#: Samples a second, and how many of them make a pair of peaks: twenty pairs a second.
RATE, PER_PAIR = 8000, 400
#: Seconds of a recording, which has some 1.7 million pairs then.
LONGEST = 24 * 3600
#: Pairs that are made at once.
_BLOCK = 2000
_HEAD = struct.Struct("<iIiiIi")
_VERSION, _EIGHT_BITS, _CHANNELS = 2, 1, 1


@dataclass(frozen=True, slots=True)
class Peaks:
    """dat: the file, with its head; length: pairs in it; sha256: of the samples that it was made of."""

    dat: bytes
    length: int
    samples: int
    sha256: str

    @property
    def duration_ms(self) -> int:
        """As it was decoded, which is what the peaks are drawn by; a header may promise something else."""
        return round(self.samples * 1000 / RATE)


def peaks(path: str) -> Peaks:
    """Of the first sound track, mono. Missing if there is no file; Charged("invalid") if there is no sound in it."""
    with media.opened(path) as file:
        return _peaks(path, file)


def _peaks(path: str, file: media.Media) -> Peaks:
    command = [ffmpeg(), "-nostdin", "-v", "error", "-threads", "1", "-protocol_whitelist", "file,pipe"]
    command += ["-i", file.source, "-map", "0:a:0", "-t", str(LONGEST), "-ac", "1", "-ar", str(RATE)]
    command += ["-f", "s16le", "-"]
    pairs, digest, samples = bytearray(), hashlib.sha256(), 0
    with tempfile.TemporaryFile() as messages:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=messages, pass_fds=(file.fd,), preexec_fn=die_with_parent
        ) as process:
            assert process.stdout is not None
            while block := process.stdout.read(_BLOCK * PER_PAIR * 2):  # all of it, but for the last
                digest.update(block)
                samples += len(block) // 2
                pairs += _pairs(block)
        messages.seek(0)
        said = messages.read(4000).decode("utf-8", "replace").strip()
    if not samples:
        raise Charged("invalid", f"{path} has no sound that ffmpeg can decode: {said[-300:] or 'it is empty'}")
    length = len(pairs) // 2
    head = _HEAD.pack(_VERSION, _EIGHT_BITS, RATE, PER_PAIR, length, _CHANNELS)
    return Peaks(head + bytes(pairs), length, samples, digest.hexdigest())


def _pairs(block: bytes) -> bytes:
    """The least and the greatest of each PER_PAIR samples, in 8 bits, rounded down as audiowaveform does."""
    import numpy

    found = numpy.frombuffer(block[: len(block) // 2 * 2], dtype="<i2")
    if rest := len(found) % PER_PAIR:  # the end: what is missing is as the last sample
        found = numpy.concatenate([found, numpy.full(PER_PAIR - rest, found[-1], dtype=found.dtype)])
    rows = found.reshape(-1, PER_PAIR)
    both = numpy.stack([rows.min(axis=1), rows.max(axis=1)], axis=1) >> 8
    return both.astype("i1").tobytes()
