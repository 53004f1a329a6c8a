"""The words of a track: its own first, LRCLIB's if they are truly this song's."""

import pytest

from actors.music.lyrics_download import lyrics_download
from jobbko import store
from jobbko.errors import Missing, Throttled
from jobbko.store import metadata, music
from jobbko.testing.records import Words
from tests.actors.music.scanning import collection, rescan, song

TITLE, ARTIST, ALBUM, SECONDS = "Tide Table", "Solveig Lund", "Loose", 140.0
LRC = "[00:12.00]Low water\n[00:17.20]High water"


@pytest.fixture
def file(tmp_path):
    """Makes the track, and its id."""
    (tmp_path / "Music").mkdir()

    def make(name="a.flac", seconds=SECONDS, **tags) -> str:
        song(tmp_path / "Music", name, seconds, **{"title": TITLE, "artist": ARTIST, "album": ALBUM} | tags)
        rescan(tmp_path / "Music")
        return music.track_at(collection(tmp_path / "Music"), name.encode()).id

    make.folder = tmp_path / "Music"
    return make


def words(title=TITLE, artist=ARTIST, album=ALBUM, seconds=SECONDS, **found) -> Words:
    return Words(title, artist, album, seconds, **found)


def kept(track_id) -> dict[str, metadata.Lyrics]:
    return {found.source: found for found in metadata.lyrics(track_id)}


def test_words_with_times_come_from_lrclib(services, file):
    services.shop.words.append(words(plain="Low water\nHigh water", synced=LRC))
    track = file()

    assert lyrics_download(track) == {"sources": ["lrclib"], "synced": True, "instrumental": False}

    found = kept(track)["lrclib"]
    assert (found.synced_lrc, found.plain, found.match_kind) == (LRC, "Low water\nHigh water", "get")


def test_what_is_in_the_file_with_times_asks_nobody(services, file):
    track = file(lyrics=LRC)

    lyrics_download(track)

    assert kept(track)["embedded"].synced_lrc == LRC
    assert services.asked == []


def test_plain_words_of_its_own_stay_beside_lrclibs(services, file):
    services.shop.words.append(words(synced=LRC))
    (file.folder / "a.txt").write_text("My own words")
    track = file()

    lyrics_download(track)

    assert kept(track)["sidecar"].plain == "My own words"
    assert kept(track)["lrclib"].synced_lrc == LRC
    assert [found.source for found in metadata.lyrics(track)] == ["sidecar", "lrclib"]


def test_no_file_is_written_or_replaced(services, file):
    # tranxuanthang/lrcget#175
    services.shop.words.append(words(synced=LRC))
    (file.folder / "a.txt").write_text("My own words")
    track = file()
    before = {path: path.read_bytes() for path in file.folder.iterdir()}

    lyrics_download(track)

    assert {path: path.read_bytes() for path in file.folder.iterdir()} == before


def test_the_album_may_be_called_otherwise_there(services, file):
    services.shop.words.append(words(album="Loose (Remastered)", synced=LRC))
    track = file()

    lyrics_download(track)

    assert kept(track)["lrclib"].match_kind == "get"


def test_a_search_finds_what_is_written_a_little_differently(services, file):
    services.shop.words.append(words(artist="Solveig Lund feat. Kari", plain="Low water"))
    track = file()

    lyrics_download(track)

    assert kept(track)["lrclib"].match_kind == "search"


@pytest.mark.parametrize(
    "other",
    [
        words(artist="Somebody Else", synced=LRC),
        words(title="Tide Table Blues", synced=LRC),
        words(seconds=150.0, synced=LRC),
        words(synced="[00:12.00]Low\n[02:59.00]After the end"),
    ],
    ids=["another artist", "another title", "another length", "lines after the end"],
)
def test_another_songs_words_are_not_taken(services, file, other):
    # jellyfin/jellyfin-plugin-lyrics PR 47, tranxuanthang/lrcget#80
    services.shop.words.append(other)
    track = file()

    lyrics_download(track)

    assert kept(track) == {}


def test_a_record_that_nobody_has_filled_is_neither_words_nor_instrumental(services, file):
    # beetbox/beets#6888
    services.shop.words.append(words())
    track = file()

    assert lyrics_download(track) == {"sources": [], "synced": False, "instrumental": False}


def test_instrumental_is_an_answer(services, file):
    services.shop.words.append(words(instrumental=True))
    track = file()

    assert lyrics_download(track)["instrumental"]


@pytest.mark.parametrize("found", [{"instrumental": True}, {"synced": LRC}, {"plain": "Low"}, None])
def test_nobody_is_asked_again_soon(services, file, found):
    # tranxuanthang/lrcget#30, #267
    if found is not None:
        services.shop.words.append(words(**found))
    track = file()
    lyrics_download(track)
    asked = len(services.asked)

    lyrics_download(track)

    assert len(services.asked) == asked > 0


def test_after_a_while_it_is_asked_again_and_words_may_have_got_times(services, file):
    services.shop.words.append(words(plain="Low water"))
    track = file()
    lyrics_download(track)
    store.run("update provider_lookup set next_check_at = now() - interval '1 second'")
    services.shop.words[:] = [words(plain="Low water", synced=LRC)]

    lyrics_download(track)

    assert kept(track)["lrclib"].synced_lrc == LRC


def test_a_persons_words_are_never_touched_and_come_first(services, file):
    services.shop.words.append(words(synced=LRC))
    track = file()
    metadata.set_lyrics(track, "user", plain="As I sing it")

    lyrics_download(track)

    assert metadata.lyrics(track)[0].plain == "As I sing it"
    assert kept(track)["lrclib"].synced_lrc == LRC


def test_words_that_were_taken_out_of_the_file_are_forgotten(services, file):
    track = file(lyrics="Low water")
    lyrics_download(track)
    file()

    lyrics_download(track)

    assert kept(track) == {}


@pytest.mark.parametrize("seconds", [0.4, 4000.0])
def test_a_length_that_lrclib_refuses_is_not_sent(services, file, seconds):
    services.shop.words.append(words(seconds=seconds, plain="Low water"))
    track = file(seconds=seconds)

    lyrics_download(track)

    assert kept(track)["lrclib"].plain == "Low water"


def test_while_lrclib_is_away_the_words_in_the_file_are_kept_all_the_same(services, file):
    services.down.add("lrclib")
    track = file(lyrics="Low water")

    with pytest.raises(Throttled):
        lyrics_download(track)

    assert kept(track)["embedded"].plain == "Low water"


def test_a_track_that_only_has_a_file_name_is_not_asked_for(services, file):
    track = file(title=[], artist=ARTIST)

    lyrics_download(track)

    assert services.asked == []


def test_a_file_that_is_gone_is_missing(services, file):
    track = file()
    (file.folder / "a.flac").rename(file.folder / "renamed.flac")

    with pytest.raises(Missing):
        lyrics_download(track)
