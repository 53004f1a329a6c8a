"""Music for the jobs: a fresh copy of a small rendered library, quick to scan, and the way to its tracks."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jobbko import clients, settings
from jobbko.store import gates, music, music_scan
from jobbko.testing.music_services import Services, music_services
from jobbko.testing.records import Shop
from tests import sounds
from tests.actors.music.albums import ALBUM, ARTIST, TRACKS
from tests.actors.music.covers import GROUP, RELEASE
from tests.actors.music.scanning import put, rescan, song


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Two albums and two loose tracks, one of them broken; see jobbko.demo.samples."""
    return Path(shutil.copytree(sounds.library(), tmp_path / "Music"))


@pytest.fixture
def services(tx: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """The services that know music, on loopback, with an empty shop; nobody has to wait for a turn."""
    with music_services(Shop(), per_second=1000) as services:
        for name, value in services.settings.items():
            monkeypatch.setattr(settings, name.removeprefix("JOBBKO_"), value)
        monkeypatch.setattr(settings, "NOTIFY_URL", "")
        monkeypatch.setattr(clients, "transport", None)
        for service in ("musicbrainz", "discogs", "lrclib"):
            gates.set_rate(service, 1000)
        yield services
        assert services.broken == []


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


@pytest.fixture
def bare(tmp_path: Path, track: Callable[[Path, str], music.Track]) -> Callable[..., music.Track]:
    """Makes a track without a picture, on an album with these MusicBrainz ids."""
    root = tmp_path / "Bare"
    root.mkdir()

    def make(release: str | None = RELEASE, group: str | None = GROUP, name: str = "a.flac") -> music.Track:
        ids = {"musicbrainz_albumid": release, "musicbrainz_releasegroupid": group}
        song(root, name, title=name, artist="Somebody", album="Something", **{k: v for k, v in ids.items() if v})
        rescan(root)
        return track(root, name)

    return make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty one for music."""
    (tmp_path / "Music").mkdir()
    return tmp_path / "Music"


@pytest.fixture
def shelf(services: Services) -> str:
    """The shop has the album of albums.py; its release id."""
    return services.shop.release(ALBUM, ARTIST, TRACKS)


@pytest.fixture
def told(services: Services, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notices go to an ntfy topic; what it was given."""
    monkeypatch.setattr(settings, "NOTIFY_URL", services.settings["JOBBKO_NOTIFY_URL"])
    return services.told


@pytest.fixture
def disliked(tx: None, folder: Path) -> Path:
    """Three tracks, for somebody to dislike."""
    for name in ("a", "b", "c"):
        song(folder, f"album/{name}.flac", title=name.upper(), artist="Somebody")
    rescan(folder)
    return folder
