"""The process that measures one file and ends: `python -m jobbko.audio.analyzer PATH`. Prints JSON, one object a line.

A process of its own, because what decodes and measures strangers' files is C++ that may crash, hang or eat memory;
then this one dies and one track has a verdict. Lines add to each other: what was known before a crash is kept.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from typing import TYPE_CHECKING, Any

from jobbko import audio
from jobbko.audio import decoding, features, impostors

if TYPE_CHECKING:
    import numpy

#: Seconds of processor time and bytes of address space that a file may cost; 10 minutes of music take 38 s and 0.6 GB.
CPU = 240
MEMORY = 4 * 1024**3
#: Seconds: shorter is a jingle or a fragment, and every figure would be noise.
SHORTEST = 3
#: Peak, as a share of full scale, below which it is silence (-60 dBFS).
SILENCE = 0.001


def main(path: bytes, parent: int) -> None:
    restrict(parent)
    started = time.process_time()
    decoded = decoding.decode(path)
    samples, facts = heal(decoded)
    if facts.get("status") == "undecodable":
        facts["reason"] = impostors.told(path) or facts["reason"]
    say(facts)
    if "status" not in facts:
        say(_measured(samples, decoded.lufs))
    used = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() - started + children.ru_utime + children.ru_stime
    say({"cpu_ms": round(seconds * 1000), "peak_rss_mb": used.ru_maxrss // 1024})


def say(facts: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def restrict(parent: int) -> None:
    """Never outlive the worker, and never take its machine down."""
    decoding.die_with_parent()
    if os.getppid() != parent:  # it died before the line above
        os._exit(1)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(5)  # the dispatcher and the dashboard come first


def heal(decoded: decoding.Decoded) -> tuple[numpy.typing.NDArray[numpy.float32], dict[str, Any]]:
    """Samples that no algorithm chokes on, and what is known so far: with a `status` if there is nothing to measure."""
    import numpy

    finite = numpy.isfinite(decoded.samples)
    healthy = bool(finite.all())
    samples = decoded.samples if healthy else numpy.where(finite, decoded.samples, numpy.float32(0))
    short_of_promise = decoded.promised_seconds is not None and decoded.seconds < 0.95 * decoded.promised_seconds
    facts: dict[str, Any] = {
        "decoded_seconds": decoded.seconds,
        "lufs": decoded.lufs,
        "lra": decoded.lra,
        "true_peak_db": decoded.true_peak_db,
        "partial": short_of_promise or decoded.error_count > 0,
        "non_finite": not healthy,
        "reason": decoded.reason,
    }
    if not len(samples):
        return samples, facts | {"status": "undecodable", "reason": decoded.reason or "there is no sound in it"}
    if decoded.seconds < SHORTEST:
        why = decoded.reason if decoded.failed else f"{decoded.seconds:.2f} s is too short to measure"
        return samples, facts | {"status": "undecodable" if decoded.failed else "too_short", "reason": why}
    # Around its mean: a constant is silence too, whatever its height.
    if float(numpy.abs(samples - samples.mean(dtype="f8")).max()) < SILENCE:
        return samples, facts | {"status": "silent", "reason": "nothing in it is louder than -60 dBFS"}
    return numpy.ascontiguousarray(samples, dtype=numpy.float32), facts


def _measured(samples: numpy.typing.NDArray[numpy.float32], lufs: float | None) -> dict[str, Any]:
    if not audio.available():
        return {"status": "unavailable", "reason": "essentia is not installed; it has no package for this machine"}
    return {
        "status": "ok",
        "engine": features.engine(),
        "analyzed_seconds": len(samples) / decoding.RATE,
        **features.measure(samples, lufs),
    }


if __name__ == "__main__":
    main(os.fsencode(sys.argv[2]), parent=int(sys.argv[1]))
