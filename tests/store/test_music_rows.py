"""Which files are one album, one artist, one track."""

from actors.music.filesystem_rescan import filesystem_rescan
from jobbko import store
from jobbko.testing.records import mbid
from tests.actors.music.scanning import rescan, song


def albums() -> list[tuple]:
    return store.rows("select title, artist_credit, compilation from albums order by title, artist_credit")


def test_a_compilation_is_one_album_and_not_one_for_each_artist(tx, tmp_path):
    # airsonic-advanced/airsonic-advanced#631, owncloud/music#45
    for number, artist in enumerate(("Anna", "Bjørn", "Carl")):
        song(tmp_path, f"Hits/{number}.flac", title="Song", artist=artist, album="Hits")
        song(tmp_path, f"More/{number}.flac", title="Song", artist=artist, album="More", compilation="1")
    rescan(tmp_path)

    assert albums() == [("Hits", "Various Artists", True), ("More", "Various Artists", True)]


def test_two_albums_of_one_name_by_two_artists_are_two(tx, tmp_path):
    for artist in ("Anna", "Bjørn"):
        song(tmp_path, f"{artist}/1.flac", title="Song", artist=artist, albumartist=artist, album="Greatest Hits")
    rescan(tmp_path)

    assert albums() == [("Greatest Hits", "Anna", False), ("Greatest Hits", "Bjørn", False)]


def test_one_recording_on_two_albums_is_two_tracks(tx, tmp_path):
    # slimserver: LMS-Community/slimserver#1372
    for album in ("Single", "Album"):
        song(tmp_path, f"{album}.flac", title="Song", album=album, musicbrainz_trackid=mbid("song"))
    rescan(tmp_path)

    assert store.value("select count(*) from tracks where mb_recording_id = %(id)s", id=mbid("song")) == 2


def test_one_path_is_one_row_however_often_it_is_scanned(tx, tmp_path):
    # navidrome/navidrome#3953
    song(tmp_path, "a.flac", title="Song")
    for _ in range(3):
        filesystem_rescan(root=str(tmp_path), full=True)

    assert store.value("select count(*) from tracks") == 1
