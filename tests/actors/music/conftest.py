"""Music for the jobs: a small library rendered once, and a fresh copy of it for each test that asks."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from jobbko import settings
from jobbko.demo import samples
from jobbko.store import music, music_scan


@pytest.fixture(scope="session")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rendered")
    samples.render(folder)
    return folder


@pytest.fixture
def library(rendered: Path, tmp_path: Path) -> Path:
    """Two albums and two loose tracks, one of them broken; see jobbko.demo.samples."""
    return Path(shutil.copytree(rendered, tmp_path / "Music"))


@pytest.fixture
def covers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "ARTWORK_DIR", tmp_path / "covers")
    return tmp_path / "covers"


@pytest.fixture
def track() -> Callable[[Path, str], music.Track]:
    """The track at a path below a root."""
    return lambda root, path: music.track_at(music_scan.root(root).collection_node_id, path.encode())
