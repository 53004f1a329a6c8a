"""Which recording on which release a track is: by its tags' ids, by search, or left alone."""

import pytest

from actors.music.metadata_refresh import metadata_refresh, unrefreshed
from jobbko import store
from jobbko.errors import GateFoundClosed, Missing, Throttled
from jobbko.store import gates, metadata, music
from jobbko.testing.records import mbid
from tests.actors.music.scanning import collection, rescan, song

ARTIST, ALBUM = "Solveig Lund", "West of the Fjord"
TRACKS = [("First Light", 200.0), ("Boathouse", 181.0), ("Ærfugl", 242.0)]


@pytest.fixture
def shelf(services):
    """The shop has the album."""
    return services.shop.release(ALBUM, ARTIST, TRACKS)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "Music").mkdir()
    return tmp_path / "Music"


def put_album(root, tracks=TRACKS, *, artist=ARTIST, album=ALBUM, **tags):
    for number, (title, seconds, *_) in enumerate(tracks, start=1):
        song(root, f"{album}/{number:02}.flac", seconds, title=title, artist=artist, album=album,
             tracknumber=str(number), **tags)  # fmt: skip
    rescan(root)


def refresh(root, path) -> dict:
    return metadata_refresh(music.track_at(collection(root), path.encode()).id)


def column(name, root, table="tracks", by="path"):
    rows = store.rows(
        f"select {name} from {table} where collection_node_id = %(id)s order by {by}", id=collection(root)
    )
    return [None if value is None else str(value) for (value,) in rows]


def test_an_album_is_found_and_all_its_tracks_with_it(services, shelf, folder):
    put_album(folder)

    result = refresh(folder, f"{ALBUM}/02.flac")

    assert result["new_ids"]
    assert column("mb_recording_id", folder) == [mbid("recording", title, ARTIST) for title, _ in TRACKS]
    assert column("mb_release_track_id", folder) == [mbid("track", shelf, 1, number) for number in (1, 2, 3)]
    assert column("mb_release_id", folder, "albums", "title") == [shelf]
    assert column("mb_release_group_id", folder, "albums", "title") == [mbid("group", ALBUM, ARTIST)]
    assert column("original_date", folder, "albums", "title") == ["2001-05-21"]
    assert column("mb_artist_id", folder, "artists", "name") == [mbid("artist", ARTIST)]
    assert column("sort_name", folder, "artists", "name") == ["Lund, Solveig"]


def test_the_other_tracks_of_the_album_ask_nobody(services, shelf, folder):
    put_album(folder)
    refresh(folder, f"{ALBUM}/02.flac")
    before = len(services.asked)

    result = refresh(folder, f"{ALBUM}/01.flac")

    assert len(services.asked) == before == 2  # a search and a release
    assert not result["new_ids"]
    assert result["recording"] == mbid("recording", "First Light", ARTIST)


def test_one_more_track_on_the_album_is_another_question(services, shelf, folder):
    put_album(folder, TRACKS[:2])
    refresh(folder, f"{ALBUM}/01.flac")
    put_album(folder)

    refresh(folder, f"{ALBUM}/03.flac")

    assert column("mb_recording_id", folder)[2] == mbid("recording", "Ærfugl", ARTIST)


def test_the_id_in_the_tags_is_asked_for_and_no_search_is_made(services, shelf, folder):
    put_album(folder, musicbrainz_albumid=shelf.upper())

    refresh(folder, f"{ALBUM}/01.flac")

    assert [path.partition("?")[0] for _, _, path in services.asked] == [f"/ws/2/release/{shelf}"]
    assert column("mb_recording_id", folder) == [mbid("recording", title, ARTIST) for title, _ in TRACKS]


def test_an_id_that_was_merged_is_replaced_and_stays_so(services, shelf, folder):
    # Navidrome and Lidarr: files go on naming the old one
    old = mbid("before the merge")
    services.shop.redirects[old] = shelf
    put_album(folder, musicbrainz_albumid=old)
    refresh(folder, f"{ALBUM}/01.flac")

    rescan(folder, full=True)

    assert column("mb_release_id", folder, "albums", "title") == [shelf]


def test_an_id_that_there_is_not_leads_to_a_search(services, shelf, folder):
    put_album(folder, musicbrainz_albumid=mbid("nothing"))

    refresh(folder, f"{ALBUM}/01.flac")

    assert column("mb_recording_id", folder) == [mbid("recording", title, ARTIST) for title, _ in TRACKS]


def test_what_the_tags_say_stays_and_what_they_leave_open_is_filled(services, shelf, folder):
    song(folder, "a/1.flac", 200, artist=ARTIST, album=ALBUM, tracknumber="1")
    song(folder, "a/2.flac", 181, title="BOATHOUSE!", artist=ARTIST, album=ALBUM)
    song(folder, "a/3.flac", 242, title="Aerfugl", artist=ARTIST, album=ALBUM)
    rescan(folder)

    refresh(folder, "a/1.flac")
    rescan(folder, full=True)

    assert column("title", folder) == ["First Light", "BOATHOUSE!", "Aerfugl"]
    assert column("track_no", folder) == ["1", "2", "3"]


def test_a_tag_that_is_written_later_takes_the_place_of_what_was_filled(services, shelf, folder):
    song(folder, "a/1.flac", 200, artist=ARTIST, album=ALBUM, tracknumber="1")
    song(folder, "a/2.flac", 181, title="Boathouse", artist=ARTIST, album=ALBUM)
    rescan(folder)
    refresh(folder, "a/1.flac")
    song(folder, "a/1.flac", 200, artist=ARTIST, album=ALBUM, tracknumber="1", title="First light (live)")

    rescan(folder)

    assert column("title", folder) == ["First light (live)", "Boathouse"]


def test_no_file_is_written(services, shelf, folder):
    put_album(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*.flac")}

    refresh(folder, f"{ALBUM}/01.flac")

    assert {path: path.read_bytes() for path in folder.rglob("*.flac")} == before


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


def test_what_a_search_has_matched_is_taken_back_when_it_no_longer_fits(services, shelf, folder):
    put_album(folder)
    refresh(folder, f"{ALBUM}/01.flac")
    put_album(folder, [("Quite", 99.0), ("Something", 98.0), ("Else", 97.0)])

    refresh(folder, f"{ALBUM}/01.flac")

    assert column("mb_recording_id", folder) == [None, None, None]
    assert column("mb_release_id", folder, "albums", "title") == [None]
    assert column("title", folder) == ["Quite", "Something", "Else"]


def test_what_is_not_known_is_not_asked_for_again_tomorrow(services, folder):
    put_album(folder)

    refresh(folder, f"{ALBUM}/01.flac")
    asked = len(services.asked)
    refresh(folder, f"{ALBUM}/01.flac")

    assert len(services.asked) == asked == 1


@pytest.mark.parametrize("name", ["AC/DC", 'The "Best" (of) [it]: ~2^3?', "AND OR NOT", "\\ backslash", "Sigur Rós"])
def test_a_name_is_no_query(services, folder, name):
    services.shop.release(name, name, [(name, 200.0)])
    song(folder, "1.flac", 200, title=name, artist=name, album=name)
    rescan(folder)

    assert refresh(folder, "1.flac")["recording"] == mbid("recording", name, name)


def test_while_musicbrainz_is_away_the_tags_are_read_all_the_same(services, shelf, folder):
    put_album(folder)
    track = music.track_at(collection(folder), f"{ALBUM}/01.flac".encode())
    song(folder, f"{ALBUM}/01.flac", 200, title="Retitled", artist=ARTIST, album=ALBUM)
    services.down.add("ws")

    with pytest.raises(Throttled):
        metadata_refresh(track.id)

    assert music.track(track.id).title == "Retitled"
    assert track.id in list(unrefreshed([collection(folder)]))


def test_a_closed_gate_is_not_knocked_at(services, shelf, folder):
    put_album(folder)
    store.rows("select gate_close('musicbrainz', 'outage', 60, null, '503', null)")

    with pytest.raises(GateFoundClosed):
        refresh(folder, f"{ALBUM}/01.flac")

    assert services.asked == []


def test_a_track_is_due_until_it_was_looked_at_as_it_is(services, shelf, folder):
    put_album(folder)
    assert len(list(unrefreshed([collection(folder)]))) == 3

    for number in (1, 2, 3):
        refresh(folder, f"{ALBUM}/0{number}.flac")
    assert list(unrefreshed([collection(folder)])) == []

    song(folder, f"{ALBUM}/02.flac", 182, title="Boathouse", artist=ARTIST, album=ALBUM)
    rescan(folder)
    assert len(list(unrefreshed([collection(folder)]))) == 1


def test_with_the_service_switched_off_only_the_tags_are_read(services, shelf, folder, monkeypatch):
    monkeypatch.setattr("jobbko.settings.MUSICBRAINZ_URL", "off")
    put_album(folder)

    assert not refresh(folder, f"{ALBUM}/01.flac")["new_ids"]
    assert services.asked == []


def test_a_file_that_is_gone_is_missing(services, folder):
    put_album(folder)
    (folder / ALBUM / "01.flac").unlink()

    with pytest.raises(Missing):
        refresh(folder, f"{ALBUM}/01.flac")


def test_nonsense_from_the_service_is_told_and_nothing_is_written(services, shelf, folder):
    services.shop.releases[shelf]["media"] = [{"tracks": [{"id": 7, "title": ["x"]}, "nonsense", None]}]
    put_album(folder)

    refresh(folder, f"{ALBUM}/01.flac")

    assert column("mb_recording_id", folder) == [None, None, None]
    assert (
        metadata.album(music.track_at(collection(folder), f"{ALBUM}/01.flac".encode()).album_id).mb_release_id is None
    )
    assert gates.closed("musicbrainz", None) is None
