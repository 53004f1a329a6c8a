"""Decode a file by ffmpeg: mono samples at 44.1 kHz, and loudness by EBU R128, in one pass.

No decoder of the analysis library ever opens a file: it dies on Opus and on damaged MP3, and a crafted name could
make ffmpeg open another protocol; `file:` before the path and a protocol list of two prevent that.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

RATE = 44_100
#: Seconds: no more of a file is decoded. Eleven-hour audio books exist, and memory does not grow with them.
LONGEST = 600
#: Bytes of ffmpeg's messages that are read; a damaged file can produce one for each frame.
_MOST_SAID = 8_000_000
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Decoded:
    """What came out. samples: float32, mono, 44.1 kHz; the rest as ffmpeg said it."""

    samples: numpy.typing.NDArray[numpy.float32]
    promised_seconds: float | None  # by the header; None if it says nothing firm
    lufs: float | None
    lra: float | None
    true_peak_db: float | None
    error_count: int
    reason: str  # the last error, if there was one
    failed: bool  # ffmpeg gave up

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE


def ffmpeg() -> str:
    """The system's ffmpeg if there is one, else the one that comes with imageio-ffmpeg."""
    if (found := shutil.which("ffmpeg")) is not None:
        return found
    import imageio_ffmpeg

    return str(imageio_ffmpeg.get_ffmpeg_exe())


def command(path: bytes) -> list[str | bytes]:
    # Loudness is measured before the downmix: the standard weighs channels. Its line for each frame is put at a level
    # that is not shown; framelog=quiet would say so, but ffmpeg 5 does not know it.
    return [
        *(ffmpeg(), "-nostdin", "-hide_banner", "-v", "level+info", "-nostats", "-threads", "1"),
        *("-protocol_whitelist", "file,pipe", "-i", b"file:" + path),
        *("-map", "0:a:0", "-vn", "-sn", "-dn", "-t", str(LONGEST)),
        *("-af", f"ebur128=peak=true:framelog=verbose,aresample={RATE}", "-ac", "1", "-f", "f32le", "-"),
    ]


def decode(path: bytes) -> Decoded:
    """Everything up to LONGEST seconds. For a process of one thread that may be killed: it holds 110 MB and waits."""
    import numpy

    # Messages go to a file: two pipes would need two readers, and one that is full stops the other.
    with tempfile.TemporaryFile() as messages:
        with subprocess.Popen(
            command(path), stdout=subprocess.PIPE, stderr=messages, preexec_fn=die_with_parent
        ) as process:
            assert process.stdout is not None
            raw = process.stdout.read()
        messages.seek(max(0, os.fstat(messages.fileno()).st_size - _MOST_SAID))
        said = messages.read().decode("utf-8", "replace")
    samples = numpy.frombuffer(raw[: len(raw) // 4 * 4], dtype="<f4")
    return _decoded(samples, said.replace(f"file:{os.fsdecode(path)}: ", ""), failed=process.returncode != 0)


def die_with_parent() -> None:
    """Ask the kernel to kill this process when the one that started it ends, however it ends: prctl(2)."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _decoded(samples: numpy.typing.NDArray[numpy.float32], said: str, *, failed: bool) -> Decoded:
    errors = re.findall(r"^(?:\[[^\]\n]* @ [^\]\n]*\] )*\[(?:error|fatal|panic)\] (.*)$", said, flags=re.MULTILINE)
    _, _, summary = said.rpartition("Summary:")
    return Decoded(
        samples=samples,
        promised_seconds=_promised(said),
        lufs=_figure(r"I:\s+(\S+) LUFS", summary, lowest=-69.9),
        lra=_figure(r"LRA:\s+(\S+) LU", summary),
        true_peak_db=_figure(r"Peak:\s+(\S+) dBFS", summary),
        error_count=len(errors),
        reason=errors[-1].strip()[:500] if errors else "",
        failed=failed,
    )


def _promised(said: str) -> float | None:
    """Seconds by the header, at most LONGEST; what ffmpeg only estimates from the bit rate is no promise."""
    found = re.search(r"^\[info\]   Duration: (\d+):(\d\d):(\d\d\.\d+)", said, flags=re.MULTILINE)
    if found is None or "Estimating duration from bitrate" in said:
        return None
    hours, minutes, seconds = (float(part) for part in found.groups())
    return min(hours * 3600 + minutes * 60 + seconds, float(LONGEST))


def _figure(pattern: str, summary: str, lowest: float = -math.inf) -> float | None:
    """ffmpeg's number; None for nan, inf and the -70 LUFS that it writes for silence."""
    found = re.search(pattern, summary)
    value = float(found[1]) if found else math.nan
    return value if math.isfinite(value) and value > lowest else None
