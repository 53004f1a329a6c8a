"""Are tempo and key heard right, of 240 rendered pieces with known ones? python bench/accuracy.py [--json].

Each is rendered (bench/rendered.py) and measured as the job does it, by a process of its own, two at a time; none is
left out. Acc1: within 4 % of the tempo in quarter notes; Acc2: of that times 1, 2, 3, 1/2, 1/3. Key by MIREX: right 1,
a fifth above 0.5, its relative 0.3, its parallel 0.2. Exit code 1 if a piece was not measured or an average is too low.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import rendered

from jobbko.audio import analysis

#: What must hold.
ACC2, KEY = 0.95, 0.90


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--seed", type=int, default=2, help="other pieces; the analyzer was tuned on those of seed 1")
    parser.add_argument("--every", type=int, default=1, help="only each Nth piece, to try it out")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="so many pieces at once")
    parser.add_argument("--details", type=Path, help="write one JSON line for each piece to this file, as they come")
    options = parser.parse_args()
    if what := rendered.missing():
        sys.exit(what)
    clips = rendered.clips(options.seed)[:: options.every]
    started = time.monotonic()
    judged = []
    with (
        tempfile.TemporaryDirectory() as folder,
        open(options.details or os.devnull, "w") as details,
        ThreadPoolExecutor(options.threads) as threads,
    ):
        for one in threads.map(lambda clip: judge(clip, Path(folder)), clips):
            judged.append(one)
            print(json.dumps(one), file=details, flush=True)
    seconds = round(time.monotonic() - started)
    table = {style: summary([one for one in judged if one["style"] == style]) for style in rendered.STYLES}
    total = summary(judged)
    print(f"{'':14}" + "".join(f"{name:>14}" for name in total))
    for name, row in [*table.items(), ("all", total)]:
        print(f"{name:14}" + "".join(f"{value:>14}" for value in row.values()))
    statuses = Counter(one["status"] for one in judged)
    print(f"\n{dict(statuses)}, {seconds} s")
    if options.json:
        print(json.dumps({"accuracy": {"seed": options.seed, **total, "statuses": statuses, "styles": table}}))
    good = statuses["ok"] == len(judged) and total["acc2"] >= ACC2 and total["key_weighted"] >= KEY
    sys.exit(0 if good else 1)


def judge(clip: rendered.Clip, folder: Path) -> dict[str, Any]:
    sound = rendered.render(clip, folder)
    found = analysis.measure(os.fsencode(sound))
    sound.unlink()
    ratio = (found.get("bpm") or 0) / clip.bpm
    return {
        **{"name": clip.name, "style": clip.style, "bpm": clip.bpm, "key": [clip.tonic, clip.mode]},
        **{"font": clip.font.name, "status": found["status"], "reason": found.get("reason", "")},
        "heard": [found.get(name) for name in ("bpm", "bpm_alt", "bpm_confidence", "key_name", "key_edma")],
        "acc1": within(ratio, 1),
        "acc2": any(within(ratio, factor) for factor in (1, 2, 3, 1 / 2, 1 / 3)),
        "key_score": key_score((clip.tonic, clip.mode), (found.get("key_pitch_class"), found.get("key_mode"))),
    }


def within(ratio: float, factor: float) -> bool:
    return abs(ratio / factor - 1) <= 0.04


def key_score(true: tuple[int, str], heard: tuple[int | None, str | None]) -> float:
    """MIREX's, as mir_eval.key.weighted_score reckons: a fifth counts only above, and in the same mode."""
    (tonic, mode), (found, found_mode) = true, heard
    if found is None:
        return 0.0
    up = (found - tonic) % 12
    if mode == found_mode:
        return {0: 1.0, 7: 0.5}.get(up, 0.0)
    return {0: 0.2, 9 if mode == "major" else 3: 0.3}.get(up, 0.0)


def summary(judged: list[dict[str, Any]]) -> dict[str, Any]:
    def share(values: list[float]) -> float:
        return round(sum(values) / max(1, len(values)), 3)

    return {
        "pieces": len(judged),
        "acc1": share([one["acc1"] for one in judged]),
        "acc2": share([one["acc2"] for one in judged]),
        "key_exact": share([one["key_score"] == 1 for one in judged]),
        "key_weighted": share([one["key_score"] for one in judged]),
    }


if __name__ == "__main__":
    main()
