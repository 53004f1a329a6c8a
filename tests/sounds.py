"""Sound files for tests: a small library rendered once, tones of known loudness, files broken on purpose."""

from __future__ import annotations

import atexit
import fcntl
import functools
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy

from jobbko.audio.decoding import ffmpeg
from jobbko.demo import samples, synth

RATE = synth.RATE


@functools.cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="jobbko-sounds-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


#: Where the test processes of one run share what is rendered; None for a run of one process.
shared: Path | None = None


@functools.cache
def library() -> Path:
    """The demo's library, to be copied and not changed."""
    folder = shared or _folder()
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # whoever comes first renders
        if not (folder / "rendered").exists():
            samples.render(folder / "library")
            (folder / "rendered").touch()
    return folder / "library"


def sine(seconds: float = 5, hertz: float = 1000, decibels: float = -20) -> numpy.ndarray:
    """The same sine in both channels; decibels of its peak below full scale."""
    time = numpy.arange(round(seconds * RATE)) / RATE
    wave = 10 ** (decibels / 20) * numpy.sin(2 * numpy.pi * hertz * time)
    return numpy.stack([wave, wave], axis=1)


@functools.cache
def music(seconds: float = 12) -> numpy.ndarray:
    """A minor, 120 beats per minute."""
    return synth.piece(tonic=9, mode="minor", bpm=120, seconds=seconds, seed=1)


def put(path: Path, sound: numpy.ndarray, *arguments: str) -> Path:
    """Encode as the name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    samples.encode(sound, path, arguments)
    return path


def retagged(source: Path, target: Path, *arguments: str, **tags: str) -> Path:
    """The same sound in another container or with other tags, written by ffmpeg."""
    said = [part for name, value in tags.items() for part in ("-metadata", f"{name}={value}")]
    command = [ffmpeg(), "-nostdin", "-v", "error", "-y", "-i", f"file:{source}", *arguments, *said, f"file:{target}"]
    subprocess.run(command, check=True)
    return target


def damaged(path: Path, share: float = 0.01) -> Path:
    """That share of its bytes replaced by chance, the first 1000 apart."""
    data, dice = bytearray(path.read_bytes()), random.Random(7)
    for _ in range(round(len(data) * share)):
        data[dice.randrange(1000, len(data))] = dice.randrange(256)
    path.write_bytes(data)
    return path


def half_zeroed(path: Path) -> Path:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + bytes(len(data) - len(data) // 2))
    return path


def truncated(path: Path, keep: float) -> Path:
    data = path.read_bytes()
    path.write_bytes(data[: round(len(data) * keep)])
    return path
