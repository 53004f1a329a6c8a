"""Covers in the file and beside it; kept once, for whom they belong to."""

import hashlib
import shutil

import pytest
from mutagen.id3 import ID3
from PIL import Image

from actors.music import artwork_download as job
from actors.music.artwork_download import artwork_download
from actors.music.filesystem_rescan import filesystem_rescan
from jobbko import store
from jobbko.demo.samples import cover
from jobbko.errors import Missing, Throttled
from jobbko.store import artwork
from tests.actors.music.covers import PICTURE, album_artwork

pytestmark = pytest.mark.usefixtures("tx", "covers")

ALBUM = "West of the Fjord"


@pytest.fixture
def scanned(library):
    filesystem_rescan(root=str(library))
    return library


# ----------------------------------------------------------------------------------------------- local


def test_keeps_the_picture_in_the_file_for_track_and_album(scanned, track, covers):
    light = track(scanned, "Solveig Lund/West of the Fjord/01 First Light.mp3")

    artwork_download(light.id)

    kept = album_artwork(light)
    assert (kept.mime, kept.width, kept.height) == ("image/jpeg", 600, 600)
    data = (covers / kept.store_path).read_bytes()
    assert hashlib.sha256(data).hexdigest() == kept.sha256
    assert data == cover("West of the Fjord", "Solveig Lund", "#d9a441")
    assert artwork.find_for_track(light.id) == kept


def test_keeps_one_file_for_the_same_picture_in_three_tracks(scanned, track, covers):
    for name in ("01 First Light.mp3", "02 Boathouse.flac", "03 Ærfugl.m4a"):
        artwork_download(track(scanned, f"Solveig Lund/West of the Fjord/{name}").id)

    assert store.value("select count(*) from artwork") == 1
    assert store.value("select count(*) from artwork_link") == 4  # three tracks and their album
    assert len(list(covers.rglob("*.jpg"))) == 1


def test_takes_the_picture_in_the_folder_for_the_album(scanned, track):
    opus = track(scanned, "The Idle Threads/Night Shift/02 Backoff.opus")

    assert artwork_download(opus.id)["source"] == "folder"

    assert album_artwork(opus) is not None
    assert artwork.find_for_track(opus.id) is None  # it is the album's picture, not the track's own


def test_a_track_without_an_album_keeps_its_own(scanned, track):
    loose = track(scanned, "Loose/Tide Table.mp3")

    artwork_download(loose.id)

    assert artwork.find_for_track(loose.id) is not None


def test_a_damaged_picture_in_the_file_gives_way_to_the_one_in_the_folder(scanned, track):
    light = track(scanned, "Solveig Lund/West of the Fjord/01 First Light.mp3")
    tags = ID3(light.file)
    tags.getall("APIC")[0].data = b"<html>404</html>"
    tags.save()
    shutil.copy(
        scanned / "The Idle Threads/Night Shift/cover.jpg", scanned / "Solveig Lund/West of the Fjord/Folder.jpg"
    )

    assert artwork_download(light.id)["source"] == "folder"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_one_odd_track_does_not_dress_its_album(scanned, track, order):
    # navidrome/navidrome#1969, #3356
    names = ("01 First Light.mp3", "02 Boathouse.flac", "03 Ærfugl.m4a")
    album = [track(scanned, f"Solveig Lund/West of the Fjord/{name}") for name in names]
    tags = ID3(album[0].file)
    tags.getall("APIC")[0].data = PICTURE
    tags.save()

    for number in order:
        artwork_download(album[number].id)

    assert album_artwork(album[0]).sha256 == hashlib.sha256(cover(ALBUM, "Solveig Lund", "#d9a441")).hexdigest()
    assert artwork.find_for_track(album[0].id).sha256 == hashlib.sha256(PICTURE).hexdigest()


def test_a_disc_has_a_cover_of_its_own_and_the_album_that_of_its_folder(bare, covers):
    # navidrome/navidrome#5456, #5376
    first, second = bare(name="CD1/a.flac"), bare(name="CD2/a.flac")
    own, whole = cover("Disc", "Two", "#112233", size=100), cover("Box", "All", "#445566", size=100)
    with open(second.root + b"/CD2/cover.jpg", "wb") as file:
        file.write(own)
    with open(second.root + b"/cover.jpg", "wb") as file:
        file.write(whole)

    artwork_download(second.id)
    artwork_download(first.id)

    assert album_artwork(first).sha256 == hashlib.sha256(whole).hexdigest()
    assert store.rows("select disc_no, source from artwork_link order by 1") == [(2, "folder"), (None, "folder")]


def test_small_copies_lie_beside_the_picture(scanned, track, covers):
    light = track(scanned, "Solveig Lund/West of the Fjord/01 First Light.mp3")

    artwork_download(light.id)

    path = album_artwork(light).store_path
    for size in job.THUMBNAILS:
        with Image.open(covers / job.thumbnail_path(path, size)) as small:
            assert (small.format, small.size) == ("WEBP", (size, size))


def test_a_second_run_changes_nothing(scanned, track, covers):
    light = track(scanned, "Solveig Lund/West of the Fjord/01 First Light.mp3")
    artwork_download(light.id)
    before = {path: path.stat().st_mtime_ns for path in covers.rglob("*.jpg")}

    artwork_download(light.id)

    assert {path: path.stat().st_mtime_ns for path in covers.rglob("*.jpg")} == before
    assert store.value("select count(*) from artwork_link") == 2


# ------------------------------------------------------------------------------------------------ disk


def test_a_track_that_is_gone_is_nothing_to_do(scanned, track):
    loose = track(scanned, "Loose/Tide Table.mp3")
    (scanned / "Loose/Tide Table.mp3").unlink()

    with pytest.raises(Missing):
        artwork_download(loose.id)


def test_a_disk_that_is_full_leaves_no_half_picture(scanned, track, covers, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(job.os, "replace", full)

    with pytest.raises(Throttled, match=f"cannot write to {covers}: No space left on device"):
        artwork_download(track(scanned, "Loose/Tide Table.mp3").id)

    assert [path for path in covers.rglob("*") if path.is_file()] == []
    assert store.value("select count(*) from artwork") == 0
