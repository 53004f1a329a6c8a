"""Which release, and which of its tracks: told by names, lengths and places, or left alone."""

import pytest

from jobbko import store
from jobbko.testing.records import mbid
from tests.actors.music.albums import ALBUM, ARTIST, TRACKS, column, put_album, refresh
from tests.actors.music.scanning import rescan, song


def test_as_many_tracks_with_other_names_are_another_album(services, folder):
    # beetbox/beets#2981, #4391
    services.shop.release(ALBUM, ARTIST, [("Alpha", 200.0), ("Beta", 181.0), ("Gamma", 242.0)])
    put_album(folder)

    result = refresh(folder, f"{ALBUM}/01.flac")

    assert not result["new_ids"]
    assert column("mb_recording_id", folder) == [None, None, None]
    assert column("mb_release_id", folder, "albums", "title") == [None]


def test_tracks_in_another_order_are_told_by_their_names(services, shelf, folder):
    # beetbox/beets#4391
    swapped = [TRACKS[1], TRACKS[0], TRACKS[2]]
    put_album(folder, swapped)

    refresh(folder, f"{ALBUM}/01.flac")

    assert column("mb_recording_id", folder) == [mbid("recording", title, ARTIST) for title, _ in swapped]


def test_an_album_has_one_edition_for_all_its_tracks(services, folder):
    # rembo10/headphones#1682
    bonus = [("Harbour", 190.0), ("Skerry", 175.0)]
    services.shop.release(ALBUM, ARTIST, TRACKS)
    deluxe = services.shop.release(f"{ALBUM} (Deluxe Edition)", ARTIST, TRACKS + bonus, edition="deluxe")
    put_album(folder, TRACKS + bonus)

    refresh(folder, f"{ALBUM}/01.flac")

    assert column("mb_release_id", folder, "albums", "title") == [deluxe]
    assert column("mb_release_track_id", folder) == [mbid("track", deluxe, 1, number) for number in range(1, 6)]


def test_of_equal_issues_the_first_is_taken(services, folder):
    services.shop.release(ALBUM, ARTIST, TRACKS, edition="reissue", date="2019")
    first = services.shop.release(ALBUM, ARTIST, TRACKS, edition="first", date="1998")
    put_album(folder)

    refresh(folder, f"{ALBUM}/01.flac")

    assert column("mb_release_id", folder, "albums", "title") == [first]


def test_what_is_on_the_dvd_of_a_box_is_not_what_was_ripped(services, folder):
    # beetbox/beets#3499
    box = services.shop.release(ALBUM, ARTIST, TRACKS * 2, formats=("DVD-Video", "CD"), per_disc=3)
    put_album(folder)

    refresh(folder, f"{ALBUM}/01.flac")

    assert column("mb_release_track_id", folder) == [mbid("track", box, 2, number) for number in (1, 2, 3)]


def test_tracks_of_one_name_on_two_discs_are_told_by_disc_and_number(services, folder):
    box = services.shop.release(ALBUM, ARTIST, [("Intro", 30.0), ("One", 200.0), ("Intro", 31.0), ("Two", 200.0)],
                                per_disc=2)  # fmt: skip
    for disc, number, title, seconds in (
        (1, 1, "Intro", 30),
        (1, 2, "One", 200),
        (2, 1, "Intro", 31),
        (2, 2, "Two", 200),
    ):
        song(folder, f"{disc}-{number}.flac", seconds, title=title, artist=ARTIST, album=ALBUM,
             discnumber=str(disc), tracknumber=str(number))  # fmt: skip
    rescan(folder)

    refresh(folder, "1-1.flac")

    assert column("mb_release_track_id", folder) == [mbid("track", box, disc, n) for disc in (1, 2) for n in (1, 2)]


def test_a_compilation_is_compared_artist_by_artist(services, folder):
    tracks = [("Song", 200.0, "Anna"), ("Song", 200.0, "Bjørn"), ("Other", 180.0, "Carl & Dina")]
    services.shop.release("Hits", "Various Artists", tracks)
    for number, (title, seconds, artist) in enumerate([tracks[1], tracks[0], tracks[2]], start=1):
        song(folder, f"{number}.flac", seconds, title=title, artist=artist, album="Hits",
             albumartist="Various Artists", compilation="1")  # fmt: skip
    rescan(folder)

    refresh(folder, "1.flac")

    assert column("mb_recording_id", folder) == [
        mbid("recording", "Song", "Bjørn"),
        mbid("recording", "Song", "Anna"),
        mbid("recording", "Other", "Carl & Dina"),
    ]


def test_everyone_who_is_credited_is_an_artist_of_his_own(services, folder):
    services.shop.release("Duets", "Carl & Dina", [("Other", 180.0)])
    song(folder, "1.flac", 180, title="Other", artist="Carl & Dina", album="Duets")
    rescan(folder)

    refresh(folder, "1.flac")
    rescan(folder, full=True)

    credits = store.rows("select credited_as, join_phrase, mb_artist_id from track_artists join artists on"
                         " artists.id = artist_id order by position")  # fmt: skip
    assert [(name, phrase, str(id)) for name, phrase, id in credits] == [
        ("Carl", " & ", mbid("artist", "Carl")), ("Dina", "", mbid("artist", "Dina")),
    ]  # fmt: skip


def test_two_artists_of_one_name_are_two(services, folder):
    services.shop.release("Left", "Nirvana", [("A", 100.0)])
    right = services.shop.release("Right", "Nirvana", [("B", 100.0)])
    other = services.shop.releases[right]
    other["artist-credit"][0]["artist"] = {"id": mbid("the other Nirvana"), "name": "Nirvana",
                                          "disambiguation": "60s band from the UK"}  # fmt: skip
    other["media"][0]["tracks"][0]["artist-credit"] = other["artist-credit"]
    song(folder, "1.flac", 100, title="A", artist="Nirvana", album="Left")
    song(folder, "2.flac", 100, title="B", artist="Nirvana", album="Right")
    rescan(folder)

    refresh(folder, "1.flac")
    refresh(folder, "2.flac")

    credited = store.rows("select t.title, a.mb_artist_id, a.disambiguation from track_artists c join artists a on"
                          " a.id = c.artist_id join tracks t on t.id = c.track_id order by 1")  # fmt: skip
    assert [(title, str(id), said) for title, id, said in credited] == [
        ("A", mbid("artist", "Nirvana"), ""), ("B", mbid("the other Nirvana"), "60s band from the UK"),
    ]  # fmt: skip


def test_a_loose_track_is_the_recording_of_that_name_artist_and_length(services, folder):
    services.shop.recording("Tide Table", ARTIST, 140)
    services.shop.recording("Tide Table (reprise)", ARTIST, 40)
    song(folder, "loose.flac", 141, title="Tide table", artist=ARTIST)
    rescan(folder)

    result = refresh(folder, "loose.flac")

    assert (result["recording"], result["source"]) == (mbid("recording", "Tide Table", ARTIST), "search")


@pytest.mark.parametrize(
    ("title", "artist", "seconds"),
    [("Tide Table", "Somebody Else", 140), ("Tide Table", ARTIST, 300), ("Ebb Table", "Solveig Lind", 40)],
    ids=["another artist", "another length", "another everything"],
)
def test_a_loose_track_that_is_only_like_one_is_left_alone(services, folder, title, artist, seconds):
    services.shop.recording("Tide Table", ARTIST, 140)
    song(folder, "loose.flac", seconds, title=title, artist=artist)
    rescan(folder)

    assert refresh(folder, "loose.flac")["recording"] is None


def test_a_track_that_only_has_a_file_name_is_not_searched_for(services, folder):
    song(folder, "Tide Table.flac", 140)
    rescan(folder)

    refresh(folder, "Tide Table.flac")

    assert services.asked == []


def test_a_recording_that_the_tags_name_is_taken_as_it_is(services, folder):
    id = services.shop.recording("Tide Table", ARTIST, 140)
    song(folder, "x.flac", 140, musicbrainz_trackid=id)
    rescan(folder)

    refresh(folder, "x.flac")

    assert column("title", folder) == ["Tide Table"]
    assert column("artist_credit", folder) == [ARTIST]
