"""Covers: in the file, beside it, from the archive; kept once, asked for once."""

import hashlib
import shutil

import pytest
from mutagen.id3 import ID3, TXXX

from actors.music import artwork_download as job
from actors.music.artwork_download import artwork_download
from actors.music.filesystem_rescan import filesystem_rescan
from jobbko import store
from jobbko.demo.samples import cover
from jobbko.errors import Missing, Throttled
from jobbko.store import music
from tests import sounds

pytestmark = pytest.mark.usefixtures("tx", "covers")

RELEASE, GROUP = "76df3287-6cda-33eb-8e9a-044b5e15ffdd", "c31a5e2b-0bf8-32e0-8aeb-ef4ba9973932"
ARCHIVE = "https://coverartarchive.org"
LISTING = {
    "images": [{"approved": True, "front": True, "types": ["Front"], "image": f"http://x/release/{RELEASE}/7.jpg"}]
}
PICTURE = cover("Archive", "Somebody", "#808080", size=200)


@pytest.fixture
def scanned(library):
    filesystem_rescan(root=str(library))
    return library


@pytest.fixture(scope="module")
def tone(tmp_path_factory):
    return sounds.put(tmp_path_factory.mktemp("tone") / "tone.wav", sounds.sine(0.2))


@pytest.fixture
def bare(tone, tmp_path, track):
    """Makes a track without a picture, on an album with these MusicBrainz ids."""

    def make(release: str | None = RELEASE, group: str | None = GROUP, name: str = "a.mp3") -> music.Track:
        path = sounds.retagged(tone, tmp_path / "Bare" / name, title=name, artist="Somebody", album="Something")
        tags = ID3(path)
        for description, mbid in (("MusicBrainz Album Id", release), ("MusicBrainz Release Group Id", group)):
            if mbid is not None:
                tags.add(TXXX(encoding=3, desc=description, text=mbid))
        tags.save()
        filesystem_rescan(root=str(path.parent))
        return track(path.parent, name)

    (tmp_path / "Bare").mkdir()
    return make


def album_artwork(track: music.Track) -> music.Artwork | None:
    album = music.album(track.album_id)
    return music.artwork(album.artwork_id) if album.artwork_id else None


# ----------------------------------------------------------------------------------------------- local


def test_keeps_the_picture_in_the_file_for_track_and_album(scanned, track, covers):
    light = track(scanned, "Solveig Lund/West of the Fjord/01 First Light.mp3")

    artwork_download(light.id)

    kept = album_artwork(light)
    assert (kept.mime, kept.width, kept.height) == ("image/jpeg", 600, 600)
    data = (covers / kept.store_path).read_bytes()
    assert hashlib.sha256(data).hexdigest() == kept.sha256
    assert data == cover("West of the Fjord", "Solveig Lund", "#d9a441")
    assert music.find_track_artwork(light.id) == kept


def test_keeps_one_file_for_the_same_picture_in_three_tracks(scanned, track, covers):
    for name in ("01 First Light.mp3", "02 Boathouse.flac", "03 Ærfugl.m4a"):
        artwork_download(track(scanned, f"Solveig Lund/West of the Fjord/{name}").id)

    assert store.value("select count(*) from artwork") == 1
    assert store.value("select count(*) from artwork_link") == 4  # three tracks and their album
    assert len([path for path in covers.rglob("*") if path.is_file()]) == 1


def test_takes_the_picture_in_the_folder_for_the_album(scanned, track):
    opus = track(scanned, "The Idle Threads/Night Shift/02 Backoff.opus")

    assert artwork_download(opus.id)["source"] == "folder"

    assert album_artwork(opus) is not None
    assert music.find_track_artwork(opus.id) is None  # it is the album's picture, not the track's own


def test_a_track_without_an_album_keeps_its_own(scanned, track):
    loose = track(scanned, "Loose/Tide Table.mp3")

    artwork_download(loose.id)

    assert music.find_track_artwork(loose.id) is not None


def test_a_damaged_picture_in_the_file_gives_way_to_the_one_in_the_folder(scanned, track):
    light = track(scanned, "Solveig Lund/West of the Fjord/01 First Light.mp3")
    tags = ID3(light.file)
    tags.getall("APIC")[0].data = b"<html>404</html>"
    tags.save()
    shutil.copy(
        scanned / "The Idle Threads/Night Shift/cover.jpg", scanned / "Solveig Lund/West of the Fjord/Folder.jpg"
    )

    assert artwork_download(light.id)["source"] == "folder"


def test_the_tracks_of_an_album_do_not_take_turns_with_its_cover(scanned, track):
    light = track(scanned, "Solveig Lund/West of the Fjord/01 First Light.mp3")
    other = track(scanned, "Solveig Lund/West of the Fjord/02 Boathouse.flac")
    tags = ID3(light.file)
    tags.getall("APIC")[0].data = PICTURE
    tags.save()

    artwork_download(other.id)
    first = album_artwork(other)
    artwork_download(light.id)

    assert album_artwork(other) == first
    assert music.find_track_artwork(light.id).sha256 == hashlib.sha256(PICTURE).hexdigest()


def test_a_second_run_changes_nothing(scanned, track, covers):
    light = track(scanned, "Solveig Lund/West of the Fjord/01 First Light.mp3")
    artwork_download(light.id)
    before = {path: path.stat().st_mtime_ns for path in covers.rglob("*.jpg")}

    artwork_download(light.id)

    assert {path: path.stat().st_mtime_ns for path in covers.rglob("*.jpg")} == before
    assert store.value("select count(*) from artwork_link") == 2


# --------------------------------------------------------------------------------------------- archive


def test_asks_the_archive_by_release(bare, http, covers):
    track = bare()
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}", json=LISTING)
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}/7-1200.jpg", content=PICTURE)

    artwork_download(track.id)

    kept = album_artwork(track)
    assert (covers / kept.store_path).read_bytes() == PICTURE
    assert store.rows("select source, source_url from artwork_link") == [
        ("coverart", f"{ARCHIVE}/release/{RELEASE}/7-1200.jpg")
    ]


def test_asks_by_release_group_where_the_release_has_none(bare, http):
    track = bare()
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}", status=404)
    http.on("GET", f"{ARCHIVE}/release-group/{GROUP}", json=LISTING)
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}/7-1200.jpg", content=PICTURE)

    artwork_download(track.id)

    assert album_artwork(track) is not None


def test_fetches_nothing_twice(bare, http):
    first, second = bare(), bare(name="b.mp3")
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}", json=LISTING)
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}/7-1200.jpg", content=PICTURE)

    artwork_download(first.id)
    artwork_download(first.id)
    artwork_download(second.id)

    assert len(http.requests) == 2


def test_asks_nobody_about_an_album_without_ids(bare, http):
    assert artwork_download(bare(release=None, group=None).id) == {"found": False}
    assert http.requests == []


def test_remembers_that_there_is_none(bare, http):
    track = bare()
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}", status=404)
    http.on("GET", f"{ARCHIVE}/release-group/{GROUP}", status=404)

    artwork_download(track.id)
    artwork_download(track.id)
    assert len(http.requests) == 2

    store.run("update provider_lookup set next_check_at = now() - interval '1 second'")
    artwork_download(track.id)
    assert len(http.requests) == 4
    days = store.rows("select miss_count, extract(day from next_check_at - now()) from provider_lookup")
    assert all(misses == 2 and 60 <= wait <= 66 for misses, wait in days)


def test_another_id_is_another_question(bare, http):
    track = bare(group=None)
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}", status=404)
    http.on("GET", f"{ARCHIVE}/release/{GROUP}", status=404)
    artwork_download(track.id)
    store.run("update albums set mb_release_id = %(id)s", id=GROUP)

    artwork_download(track.id)

    assert len(http.requests) == 2


def test_passes_over_a_picture_that_is_none(bare, http):
    track = bare(group=None)
    two = {"images": [*LISTING["images"], LISTING["images"][0] | {"image": f"http://x/release/{RELEASE}/8.jpg"}]}
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}", json=two)
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}/7-1200.jpg", content=b"<html>")
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}/8-1200.jpg", content=PICTURE)

    artwork_download(track.id)

    assert album_artwork(track).sha256 == hashlib.sha256(PICTURE).hexdigest()


def test_waits_when_the_archive_asks_for_patience_and_remembers_nothing(bare, http):
    track = bare()
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}", status=503, headers={"Retry-After": "120"})

    with pytest.raises(Throttled) as wait:
        artwork_download(track.id)

    assert (wait.value.service, wait.value.retry_after) == ("coverart", 120)
    assert store.value("select count(*) from provider_lookup") == 0


def test_a_local_picture_takes_the_place_of_a_downloaded_one(bare, http):
    track = bare()
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}", json=LISTING)
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}/7-1200.jpg", content=PICTURE)
    artwork_download(track.id)
    own = cover("Mine", "Me", "#112233", size=100)
    with open(track.root + b"/cover.jpg", "wb") as file:
        file.write(own)

    artwork_download(track.id)

    assert album_artwork(track).sha256 == hashlib.sha256(own).hexdigest()


def test_a_picture_that_its_owner_chose_stays(bare, http):
    track = bare()
    with open(track.root + b"/cover.jpg", "wb") as file:
        file.write(PICTURE)
    artwork_download(track.id)
    store.run("update artwork_link set source = 'user'")
    with open(track.root + b"/cover.jpg", "wb") as file:
        file.write(cover("Other", "Me", "#112233", size=100))

    artwork_download(track.id)

    assert album_artwork(track).sha256 == hashlib.sha256(PICTURE).hexdigest()


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

    with pytest.raises(OSError, match="No space"):
        artwork_download(track(scanned, "Loose/Tide Table.mp3").id)

    assert [path for path in covers.rglob("*") if path.is_file()] == []
    assert store.value("select count(*) from artwork") == 0
