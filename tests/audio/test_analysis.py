"""The process that measures: what its death means, and that nothing of it is left running."""

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from jobbko.audio import analysis
from tests.waiting import until


def measure(path: Path | bytes) -> dict:
    return analysis.measure(os.fsencode(path))


@pytest.fixture
def analyzer(tmp_path, monkeypatch):
    """Another program in the analyzer's place."""

    def replace(code: str) -> None:
        package = tmp_path / "fake" / "jobbko" / "audio"
        package.mkdir(parents=True)
        (package.parent / "__init__.py").touch()
        (package / "__init__.py").touch()
        (package / "analyzer.py").write_text(code)
        given = analysis._environment()
        monkeypatch.setattr(analysis, "_environment", lambda: given | {"PYTHONPATH": str(tmp_path / "fake")})

    return replace


def test_a_crash_is_a_verdict_that_keeps_what_was_known(analyzer):
    analyzer("import os\nprint('{\"lufs\": -9.5}', flush=True)\nos.kill(os.getpid(), 11)")

    assert analysis.measure(b"/x") == {"status": "crashed", "reason": "the analyzer died of SIGSEGV", "lufs": -9.5}


def test_a_python_error_in_it_is_a_verdict_with_the_error(analyzer):
    analyzer("raise MemoryError('too much')")

    assert analysis.measure(b"/x") == {"status": "crashed", "reason": "MemoryError: too much"}


def slow(pid: Path) -> str:
    """A program that starts another, says which, and ends with neither."""
    return (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        f"open({str(pid)!r} + '.part', 'w').write(str(child.pid))\n"
        f"os.rename({str(pid)!r} + '.part', {str(pid)!r})\n"
        "time.sleep(60)"
    )


def test_too_long_is_a_verdict_and_nothing_is_left_running(analyzer, tmp_path):
    pid = tmp_path / "pid"
    analyzer(slow(pid))

    found = analysis.measure(b"/x", patience=1)

    assert found["status"] == "timeout"
    assert_ends(int(pid.read_text()))


class Interrupted(BaseException):
    pass


def test_an_interrupted_job_takes_its_processes_along(analyzer, tmp_path):
    pid = tmp_path / "pid"
    analyzer(slow(pid))
    raised: list[BaseException] = []

    def job() -> None:
        try:
            analysis.measure(b"/x")
        except Interrupted as stop:
            raised.append(stop)

    thread = threading.Thread(target=job)
    thread.start()
    until(pid.exists)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Interrupted))
    thread.join(5)

    assert not thread.is_alive()
    assert len(raised) == 1
    assert_ends(int(pid.read_text()))


def test_the_analyzer_dies_with_a_worker_that_is_killed(tmp_path):
    """The real one, held up by a pipe in the place of its file."""
    os.mkfifo(tmp_path / "slow.mp3")
    code = f"from jobbko.audio import analysis; analysis.measure({os.fsencode(tmp_path / 'slow.mp3')!r})"
    worker = subprocess.Popen([sys.executable, "-c", code])
    until(lambda: any("ffmpeg" in p.name() for p in psutil.Process(worker.pid).children(recursive=True)))
    family = [p.pid for p in psutil.Process(worker.pid).children(recursive=True)]

    worker.kill()
    worker.wait()

    for pid in family:
        assert_ends(pid)


def test_memory_beyond_the_limit_is_refused_by_the_system():
    code = (
        "import os; from jobbko.audio import analyzer\n"
        "analyzer.MEMORY = 500 * 1024 * 1024\nanalyzer.restrict(os.getppid())\nbytearray(10**9)"
    )

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert "MemoryError" in ended.stderr


def test_an_analyzer_whose_worker_is_gone_already_does_not_start():
    code = "from jobbko.audio import analyzer\nanalyzer.restrict(1)\nprint('started')"

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout) == (1, "")


def assert_ends(pid: int) -> None:
    until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE, 10)
