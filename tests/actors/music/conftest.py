"""Music for the jobs: a fresh copy of a small rendered library, quick to scan, and the way to its tracks."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from jobbko import settings
from jobbko.store import music, music_scan
from tests import sounds
from tests.actors.music.scanning import put


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Two albums and two loose tracks, one of them broken; see jobbko.demo.samples."""
    return Path(shutil.copytree(sounds.library(), tmp_path / "Music"))


@pytest.fixture
def covers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "ARTWORK_DIR", tmp_path / "covers")
    return tmp_path / "covers"


@pytest.fixture
def track() -> Callable[[Path, str], music.Track]:
    """The track at a path below a root."""
    return lambda root, path: music.track_at(music_scan.root(root).collection_node_id, path.encode())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder of 30 files that only look like music: nothing but their tags is read here."""
    root = tmp_path / "root"
    for number in range(30):
        put(root, f"album {number // 10}/{number:02}.mp3")
    return root
