"""A 3-minute MP3: our analysis beside essentia's own MusicExtractor: python bench/analysis.py [--json] [--rounds 5].

Both as whole processes on the same file, by turns: seconds from start to end, seconds of processor time and peak
memory, ours with its ffmpeg; medians, and ours as a share of theirs. Then eight measurements by one worker thread and
by two.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from jobbko.audio import analysis
from jobbko.demo import samples, synth

SECONDS = 182
EXTRACTOR = """
import os, sys, essentia
os.nice(5)
essentia.log.infoActive = essentia.log.warningActive = False
import essentia.standard
figures, _ = essentia.standard.MusicExtractor()(sys.argv[1])
"""
#: One process tells what another, and all that that one started, took.
OBSERVER = """
import json, os, resource, subprocess, sys, time
started = time.perf_counter()
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""
MEASURES = ("wall_s", "cpu_s", "rss_mb")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--file", type=Path, help="measure this file; otherwise one is made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = options.file or made(Path(folder) / "three minutes.mp3")
        figures = side_by_side(file, options.rounds)
        throughput = {f"{threads}_threads": round(per_hour(file, threads)) for threads in (1, 2)}
    print(f"\ntracks an hour: {throughput['1_threads']} by one thread, {throughput['2_threads']} by two")
    if options.json:
        print(json.dumps({"analysis": figures | {"tracks_per_hour": throughput}}))


def made(path: Path) -> Path:
    sound = synth.piece(tonic=9, mode="minor", bpm=118, seconds=SECONDS, seed=1)
    samples.encode(sound, path, ("-c:a", "libmp3lame", "-b:a", "192k"))
    return path


def side_by_side(file: Path, rounds: int) -> dict[str, dict[str, float]]:
    sides: dict[str, list[list[float]]] = {"jobbko": [], "MusicExtractor": []}
    for number in range(rounds):
        for side in sorted(sides, reverse=bool(number % 2)):
            sides[side].append(observed(side, file))
    medians = {
        side: {name: round(statistics.median(run[place] for run in taken), 2) for place, name in enumerate(MEASURES)}
        for side, taken in sides.items()
    }
    ours, theirs = medians["jobbko"], medians["MusicExtractor"]
    medians["ratio"] = {name: round(ours[name] / theirs[name], 2) for name in MEASURES}
    print(f"{'median of ' + str(rounds):16}" + "".join(f"{name:>10}" for name in MEASURES))
    for side, row in medians.items():
        print(f"{side:16}" + "".join(f"{value:>10.2f}" for value in row.values()))
    return medians


def observed(side: str, file: Path) -> list[float]:
    """Wall seconds, processor seconds, peak memory in MB of the largest process."""
    if side == "jobbko":
        # Through a shell that stays, so that the analyzer's parent is whom it expects; see analyzer.restrict.
        command = ["sh", "-c", '"$0" -P -m jobbko.audio.analyzer $$ "$1"; exit $?', sys.executable, str(file)]
    else:
        command = [sys.executable, "-c", EXTRACTOR, str(file)]
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run([sys.executable, "-c", OBSERVER, *command], env=alone, capture_output=True, check=True)
    code, *taken = json.loads(ran.stdout)
    if code:
        sys.exit(f"{side} ended with {code}")
    return taken


def per_hour(file: Path, threads: int, files: int = 8) -> float:
    started = time.monotonic()
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(analysis.measure, [os.fsencode(file)] * files))
    assert all(one["status"] == "ok" for one in found), found
    return files * 3600 / (time.monotonic() - started)


if __name__ == "__main__":
    main()
