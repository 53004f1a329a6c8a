"""A library of 100,000 files: how long the first scan takes, and one that finds nothing: python bench/scan.py.

Beside it, in the same run, what the disk and the tags alone take: `find -printf '%T@ %s %p'` over the same folder, and
mutagen reading the same files in one process. Memory is the peak of a process that runs the job and nothing else.
The files are FLAC headers with tags: a scan reads no more of a file than its tags and both its ends.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from jobbko import settings, store
from jobbko.store.migrate import migrate
from jobbko.testing.postgres import temporary_server
from tests.actors.music.scanning import song

ON_AN_ALBUM = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3, help="of the scan that finds nothing, and of find")
    parser.add_argument("--scan", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.scan:
        return scan(arguments.scan)
    with tempfile.TemporaryDirectory() as folder, temporary_server() as settings.DATABASE_URL:
        os.environ["DATABASE_URL"] = settings.DATABASE_URL
        migrate()
        root = Path(folder) / "Music"
        make(root, arguments.files)
        report(root, arguments)
    return None


def make(root: Path, files: int) -> None:
    for number in range(files):
        artist, album = f"Artist {number // 240}", f"Album {number // ON_AN_ALBUM}"
        song(
            root,
            f"{artist}/{album}/{number % ON_AN_ALBUM + 1:02} Song {number}.flac",
            180 + number % 100,
            title=f"Song {number}",
            artist=artist,
            album=album,
            tracknumber=str(number % ON_AN_ALBUM + 1),
        )
        if number % 1000 == 0:
            print(f"\r{number} of {files} files written ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def scan(root: str) -> None:
    """In a process of its own: what it took, as JSON."""
    settings.SETTLE = 0
    from actors.music.filesystem_rescan import filesystem_rescan

    started = time.monotonic()
    result = filesystem_rescan(root=root)
    seconds = time.monotonic() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "megabytes": peak, "new": result["new"], "unchanged": result["unchanged"]}))


def report(root: Path, arguments: argparse.Namespace) -> None:
    tags = timed([sys.executable, "-c", READ_TAGS, str(root)])
    first = scanned(root)
    store.run("analyze")
    finds, again = [], []
    for _ in range(arguments.runs):
        finds.append(timed(["find", str(root), "-printf", "%T@ %s %p\\n"]))
        again.append(scanned(root))
    find, rescan = statistics.median(finds), statistics.median(each["seconds"] for each in again)
    peak = max(each["megabytes"] for each in (first, *again))
    print(f"{first['new']} files: first scan {first['seconds']:.1f} s, {first['new'] / first['seconds']:.0f} files/s")
    print(f"reading the tags alone, one process: {tags:.1f} s; ratio {first['seconds'] / tags:.2f}")
    print(f"a scan that finds {again[0]['unchanged']} unchanged: {rescan:.2f} s; find: {find:.2f} s")
    print(f"ratio {rescan / find:.2f}; peak memory {peak:.0f} MB")
    print(json.dumps({"rescan_over_find": round(rescan / find, 2), "megabytes": round(peak)}))


def scanned(root: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--scan", str(root)], stdout=subprocess.PIPE, check=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def timed(command: list[str]) -> float:
    started = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - started


#: What any program must do that wants the tags of all files.
READ_TAGS = """
import os, sys, mutagen
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        mutagen.File(os.path.join(folder, name))
"""

if __name__ == "__main__":
    main()
