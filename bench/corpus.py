"""Does every bad file end in a stated status, within its limits? python bench/corpus.py [--json].

What is broken in known ways is made here; the rest is every file of the source distributions of mutagen and beets,
whose test data is a museum of broken tags. Each is read for tags and measured as the jobs do it. Exit code 1 if one
had no status, or took more than its limits.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy

from jobbko.audio import analysis, analyzer, tags
from jobbko.audio.decoding import ffmpeg
from jobbko.demo import samples, synth

PACKAGES = ("mutagen==1.48.1", "beets==2.14.1")
STATUSES = {"ok", "too_short", "silent", "undecodable", "crashed", "timeout", "unavailable"}
FORMATS = {
    **{"mp3": (), "flac": (), "ogg": ("-c:a", "libvorbis"), "opus": ("-c:a", "libopus"), "m4a": (), "wav": ()},
    **{"aiff": (), "wv": (), "wma": (), "mka": (), "ac3": ()},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--made", action="store_true", help="only the files that are made here; needs no internet")
    parser.add_argument("--short", action="store_true", help="leave out the 60 minutes")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder / "made", long=not options.short)
        if not options.made:
            download(folder / "downloaded")
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        files = files[:: options.every]
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            judged = list(threads.map(lambda path: judge(path, folder), files))
    sys.exit(0 if told(judged, options.json) else 1)


def judge(path: Path, folder: Path) -> dict[str, Any]:
    started = time.monotonic()
    try:
        tags.read(os.fsencode(path))
        found = analysis.measure(os.fsencode(path))
    except Exception as error:
        found = {"status": f"none: {type(error).__name__}", "reason": str(error)}
    about = {name: found.get(name) for name in ("status", "reason", "cpu_ms", "peak_rss_mb", "partial", "non_finite")}
    return {"name": str(path.relative_to(folder)), **about, "seconds": round(time.monotonic() - started, 1)}


def told(judged: list[dict[str, Any]], as_json: bool) -> bool:
    """Print what became of them; whether all is well."""
    for one in judged:
        if one["name"].startswith("made"):
            print(f"{one['name'][5:]:28} {one['status']:12} {one['seconds']:6.1f} s  {one['reason'] or ''}"[:120])
    counts = Counter(one["status"] for one in judged)
    print()
    for status, count in counts.most_common():
        print(f"{count:6} {status}")
    slowest = max(judged, key=lambda one: one["cpu_ms"] or 0)
    largest = max(judged, key=lambda one: one["peak_rss_mb"] or 0)
    print(f"\nmost processor time: {slowest['name']}, {(slowest['cpu_ms'] or 0) / 1000:.1f} s of {analyzer.CPU}")
    print(f"most memory: {largest['name']}, {largest['peak_rss_mb']} MB of {analyzer.MEMORY // 1024**2}")
    good = all(
        one["status"] in STATUSES
        and one["seconds"] <= analysis.PATIENCE + 60  # its tags are read as well, and two run at once
        and (one["cpu_ms"] or 0) <= analyzer.CPU * 1000
        and (one["peak_rss_mb"] or 0) * 1024**2 <= analyzer.MEMORY
        for one in judged
    )
    if as_json:
        figures = {"files": len(judged), "statuses": counts, "slowest": slowest, "largest": largest, "good": good}
        print(json.dumps({"corpus": figures}))
    return good


def download(folder: Path) -> None:
    """The source distributions, unpacked."""
    for package in PACKAGES:
        name, _, _ = package.partition("==")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name]
        subprocess.run([*command, "--dest", str(folder), package], check=True)
    for archive in folder.glob("*.tar.gz"):
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")


def make(folder: Path, *, long: bool) -> None:
    folder.mkdir()
    dice = random.Random(3)
    music = synth.piece(tonic=9, mode="minor", bpm=120, seconds=12, seed=1)
    for suffix, arguments in FORMATS.items():
        whole = folder / f"whole.{suffix}"
        samples.encode(music, whole, arguments)
        data = whole.read_bytes()
        (folder / f"half.{suffix}").write_bytes(data[: len(data) // 2])
        (folder / f"header only.{suffix}").write_bytes(data[:90])
        (folder / f"random bytes in it.{suffix}").write_bytes(shaken(data, dice))
        (folder / f"second half zero.{suffix}").write_bytes(data[: len(data) // 2] + bytes(len(data) // 2))
        (folder / f"only random bytes.{suffix}").write_bytes(dice.randbytes(50_000))
        (folder / f"empty.{suffix}").touch()
    (folder / "a flac called.mp3").write_bytes((folder / "whole.flac").read_bytes())
    (folder / "an mp3 called.flac").write_bytes((folder / "whole.mp3").read_bytes())
    (folder / "an opus called.mp3").write_bytes((folder / "whole.opus").read_bytes())
    (folder / "a web page.mp3").write_text("<!DOCTYPE html><title>404</title>" * 50)
    for name, value in (("nan", math.nan), ("inf", math.inf), ("minus inf", -math.inf), ("huge", 3e38)):
        poisoned = music.astype("<f4")
        poisoned[1000:2000] = value
        wav(folder / f"{name}.wav", poisoned)
        wav(folder / f"all {name}.wav", numpy.full((5 * synth.RATE, 2), value, "<f4"))
    for rate in (8_000, 22_050, 48_000, 96_000, 192_000):
        samples.encode(music, folder / f"{rate} Hz.flac", ("-ar", str(rate)))
    samples.encode(music, folder / "5.1.flac", ("-ac", "6"))
    samples.encode(music, folder / "5.1.ogg", ("-ac", "6", "-c:a", "libvorbis"))
    samples.encode(music, folder / "mono.flac", ("-ac", "1"))
    samples.encode(music * 1e-5, folder / "silence.flac")
    wav(folder / "constant.wav", numpy.full((5 * synth.RATE, 2), 0.5, "<f4"))
    wav(folder / "promises four gigabytes.wav", music.astype("<f4"), promised=0xFFFFFF00)
    for seconds in (0.001, 0.5, 2.9, 3.1, 9.9):
        samples.encode(music[: round(seconds * synth.RATE)], folder / f"{seconds} s.wav")
    if long:
        # Repeated by ffmpeg: as an array it would be 2.5 GB.
        again = [ffmpeg(), "-nostdin", "-v", "error", "-stream_loop", "299", "-i", folder / "whole.wav"]
        subprocess.run([*again, "-t", "3600", "-b:a", "128k", folder / "60 minutes.mp3"], check=True)


def shaken(data: bytes, dice: random.Random) -> bytes:
    """A hundredth of its bytes replaced by chance, after the header."""
    broken = bytearray(data)
    for _ in range(len(data) // 100):
        broken[dice.randrange(min(1000, len(data) // 2), len(data))] = dice.randrange(256)
    return bytes(broken)


def wav(path: Path, sound: Any, promised: int | None = None) -> None:
    """A WAV of floats by hand: encoders refuse NaN."""
    data = sound.astype("<f4").tobytes()
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, 3, 2, synth.RATE, synth.RATE * 8, 8, 32)
    size = len(data) if promised is None else promised
    riff = struct.pack("<4sI4s", b"RIFF", min(36 + size, 2**32 - 1), b"WAVE")
    path.write_bytes(riff + fmt + struct.pack("<4sI", b"data", size) + data)


if __name__ == "__main__":
    main()
