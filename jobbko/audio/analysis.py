"""Have one file measured by a process of its own, and turn whatever becomes of it into a verdict."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import jobbko

#: Seconds until a process that hangs is given up. Work is bounded by processor time (analyzer.CPU), so that a busy
#: machine is not a verdict on the file.
PATIENCE = 540
#: Seconds between two looks at the process: an interruption of this thread is noticed as fast as that.
_GLANCE = 0.1
#: Variables that the process gets; strangers' files are read there, so no address and no key is among them.
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR", "VIRTUAL_ENV", "IMAGEIO_FFMPEG_EXE")


def measure(path: bytes, patience: float = PATIENCE) -> dict[str, Any]:
    """Figures named like the columns of track_audio_features; `status` and `reason` say why there are few."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complaints:
        code = _run(path, said, complaints, patience)
        said.seek(0)
        complaints.seek(max(0, os.fstat(complaints.fileno()).st_size - 4000))
        facts = _facts(said.read())
        return facts if code == 0 and "status" in facts else facts | _fate(code, complaints.read())


def _run(path: bytes, said: Any, complaints: Any, patience: float) -> int | None:
    """The exit code, negative for a signal, None if it took too long. Nothing of it is left running, come what may."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "jobbko.audio.analyzer", str(os.getpid()), path],
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=complaints,
        env=_environment(),
        start_new_session=True,  # so that it and its ffmpeg can be killed together
    )
    try:
        # Short waits: an exception that is raised in this thread from outside (time limit, shutdown) gets in between.
        for _ in range(max(1, round(patience / _GLANCE))):
            try:
                return process.wait(timeout=_GLANCE)
            except subprocess.TimeoutExpired:
                continue
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _environment() -> dict[str, str]:
    given = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    root = str(Path(jobbko.__file__).parents[1])
    # One thread for each process: how many run at once is the worker's decision.
    return given | {"PYTHONPATH": root, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}


def _facts(said: bytes) -> dict[str, Any]:
    """All whole lines, later ones over earlier ones."""
    facts: dict[str, Any] = {}
    for line in said.splitlines(keepends=True):
        if line.endswith(b"\n"):
            facts |= json.loads(line)
    return facts


def _fate(code: int | None, complaints: bytes) -> dict[str, Any]:
    if code is None or code == -signal.SIGXCPU:
        return {"status": "timeout", "reason": "it took too long to measure"}
    if code < 0:
        return {"status": "crashed", "reason": f"the analyzer died of {signal.Signals(-code).name}"}
    lines = complaints.decode("utf-8", "replace").strip().splitlines()
    return {"status": "crashed", "reason": lines[-1][:500] if lines else f"the analyzer ended with {code}"}
