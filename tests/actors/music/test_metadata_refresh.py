"""Looking up what a track is: who is asked, how often, and what is written where."""

import pytest

from actors.music.metadata_refresh import metadata_refresh, unrefreshed
from jobbko import store
from jobbko.errors import GateFoundClosed, Missing, Throttled
from jobbko.store import gates, metadata, music
from jobbko.testing.records import mbid
from tests.actors.music.albums import ALBUM, ARTIST, TRACKS, column, put_album, refresh
from tests.actors.music.scanning import collection, rescan, song


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
