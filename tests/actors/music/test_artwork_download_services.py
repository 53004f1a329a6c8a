"""Covers from the Cover Art Archive and from Discogs; asked for once."""

import hashlib

import pytest

from actors.music.artwork_download import artwork_download
from jobbko import store
from jobbko.demo.samples import cover
from jobbko.errors import GateClosed, Throttled
from tests.actors.music.covers import GROUP, PICTURE, RELEASE, album_artwork

pytestmark = pytest.mark.usefixtures("tx", "covers")


class WorkerKilled(BaseException):
    """Not to be caught by anybody."""


ARCHIVE = "https://coverartarchive.org"
LISTING = {
    "images": [{"approved": True, "front": True, "types": ["Front"], "image": f"http://x/release/{RELEASE}/7.jpg"}]
}


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
    first, second = bare(), bare(name="b.flac")
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
    assert store.value("select count(*) from provider_lookup where next_check_at > now()") == 0


def test_while_one_track_asks_for_its_album_the_others_do_not(bare, http):
    first, second = bare(), bare(name="b.flac")
    http.breaks("GET", f"{ARCHIVE}/release/{RELEASE}", WorkerKilled())
    with pytest.raises(WorkerKilled):
        artwork_download(first.id)
    store.run("update provider_lookup set next_check_at = now() + interval '5 minutes'")  # as a killed one leaves it
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}", json=LISTING)
    http.on("GET", f"{ARCHIVE}/release/{RELEASE}/7-1200.jpg", content=PICTURE)

    # The second leaves the release to the first, which asks again.
    http.on("GET", f"{ARCHIVE}/release-group/{GROUP}", status=404)
    assert not artwork_download(second.id)["found"]
    assert artwork_download(first.id)["found"]


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


# --------------------------------------------------------------------------------------------- discogs


def test_discogs_is_asked_by_name_when_the_archive_has_nothing(bare, services):
    services.shop.discogs["Somebody", "Something"] = PICTURE
    track = bare()

    assert artwork_download(track.id)["source"] == "discogs"

    assert album_artwork(track).sha256 == hashlib.sha256(PICTURE).hexdigest()


def test_a_release_of_another_artist_is_not_taken(bare, services):
    services.shop.discogs["Somebody Else", "Something"] = PICTURE

    assert artwork_download(bare().id) == {"found": False}


def test_without_a_token_discogs_is_not_asked(bare, services, monkeypatch):
    monkeypatch.setattr("jobbko.settings.DISCOGS_TOKEN", "")

    artwork_download(bare().id)

    assert services.times("discogs") == []


def test_what_discogs_does_not_have_is_not_asked_for_again(bare, services):
    track = bare()
    artwork_download(track.id)
    asked = len(services.asked)

    artwork_download(track.id)

    assert len(services.asked) == asked == 3  # release, group, Discogs


def test_a_token_that_is_refused_is_told_without_the_token(bare, services, monkeypatch):
    # Clementine-player/Clementine#4735
    monkeypatch.setattr("jobbko.settings.DISCOGS_TOKEN", "wrong-and-secret")

    with pytest.raises(GateClosed, match="401") as refused:
        artwork_download(bare().id)

    assert (refused.value.gate, refused.value.reason) == ("discogs", "auth")
    assert "wrong-and-secret" not in str(refused.value)
    services.broken.clear()
