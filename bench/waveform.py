"""The waveform of a 30-minute MP3, beside ffmpeg decoding the same file and nothing else: python bench/waveform.py."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jobbko.audio.decoding import ffmpeg

ROUNDS = 5
#: In a process of its own, for its memory: the wall clock is that of the call alone.
OURS = """
import json, resource, sys, time
import numpy
from jobbko.audio.peaks import peaks
started = time.perf_counter()
found = peaks(sys.argv[1])
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": time.perf_counter() - started, "megabytes": used, "pairs": found.length}))
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "speech.mp3"
        noise = "anoisesrc=color=pink:sample_rate=44100:duration=1800:seed=1,tremolo=f=3:d=0.8"
        subprocess.run([ffmpeg(), "-v", "error", "-f", "lavfi", "-i", noise, "-b:a", "128k", file], check=True)
        ours, plain = [], []
        for _ in range(ROUNDS):  # by turns
            started = time.perf_counter()
            subprocess.run([ffmpeg(), "-v", "error", "-threads", "1", "-i", file, "-f", "null", "-"], check=True)
            plain.append(time.perf_counter() - started)
            done = subprocess.run([sys.executable, "-c", OURS, file], stdout=subprocess.PIPE, check=True)
            ours.append(json.loads(done.stdout))
    seconds, beside = statistics.median(each["seconds"] for each in ours), statistics.median(plain)
    memory = max(each["megabytes"] for each in ours)
    print(f"{ours[0]['pairs']} pairs in {seconds:.2f} s; ffmpeg alone {beside:.2f} s; {memory:.0f} MB")
    print(json.dumps({"ratio": round(seconds / beside, 2), "megabytes": round(memory)}))


if __name__ == "__main__":
    main()
