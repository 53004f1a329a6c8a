"""What the README shows works as it is written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
#: By its path, each file that the README shows.
SHOWN = {path: text for text, path in re.findall(r"^```python\n(# (\S+\.py)\n.*?)^```", README, re.MULTILINE | re.S)}


@pytest.fixture
def tree(tmp_path):
    """The repository with the files of the README in it."""
    for name in ("actors", "jobbko", "pipelines", "tests", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("broker.py", "pyproject.toml", "setup.cfg", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    for path, text in SHOWN.items():
        assert not (tmp_path / path).exists()
        (tmp_path / path).write_text(text)
    return tmp_path


def test_shows_a_job_and_its_test():
    assert sorted(SHOWN) == ["actors/music/loudness_report.py", "tests/actors/music/test_loudness_report.py"]


def test_stays_short():
    assert len(README.splitlines()) < 200


@pytest.mark.slow
def test_its_job_passes_what_make_test_asks_of_every_job(tree, server):
    own = [path for path in SHOWN if path.startswith("tests/")]
    job = [path for path in SHOWN if path not in own]
    for command in (
        ("ruff", "check", "--no-cache", *SHOWN),
        ("ruff", "format", "--no-cache", "--check", *SHOWN),
        ("mypy", *job),
        ("pytest", "-q", "-p", "no:cacheprovider", *own, "tests/test_architecture.py"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=tree,
            env=os.environ | {"JOBBKO_TEST_SERVER": server, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
