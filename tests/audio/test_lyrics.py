"""Words in files and beside them; with times where they have some."""

import os
import unicodedata

import pytest
from mutagen.flac import FLAC
from mutagen.id3 import ID3, SYLT, TXXX, USLT
from mutagen.mp4 import MP4

from jobbko.audio import lyrics
from tests import sounds
from tests.actors.music.scanning import song

LRC = "[ti:Tide]\n[00:12.00]Low water\n[00:17.20]High water\n"


def test_lines_with_times_are_synced_and_have_their_words_without():
    words = lyrics.read(LRC)

    assert words.synced_lrc == LRC.strip()
    assert words.plain == "Low water\nHigh water"


def test_a_line_sung_twice_comes_twice_and_in_order():
    assert lyrics.plain("[00:05.00][01:00.00]Again\n[00:30.5]Between") == "Again\nBetween\nAgain"


def test_text_without_times_is_plain():
    words = lyrics.read("Low water\n\nHigh water [x2]")

    assert (words.synced_lrc, words.plain) == (None, "Low water\n\nHigh water [x2]")


@pytest.mark.parametrize("text", ["", "  \n\ufeff\n", "[ti:Only]\n[ar:Headers]", "[00:01.00]\n[00:02.00]"])
def test_nothing_to_sing_is_none(text):
    assert lyrics.read(text) is None


@pytest.mark.parametrize(
    ("lrc", "seconds"),
    [("[01:02.50]x", 62.5), ("[1:02]x", 62), ("[01:02:50]x", 62.5), ("[100:00.001]x", 6000.001), ("x", 0)],
)
def test_when_the_last_line_starts(lrc, seconds):
    assert lyrics.last_second(lrc) == pytest.approx(seconds)


def test_word_by_word_times_are_not_words():
    assert lyrics.plain("[00:01.00]<00:01.00>Low <00:01.50>water") == "Low water"


def test_the_fields_of_a_flac(tmp_path):
    path = song(tmp_path, "a.flac", lyrics="Low water")
    assert lyrics.embedded(os.fsencode(path)).plain == "Low water"

    flac = FLAC(path)
    flac["SYNCEDLYRICS"] = LRC
    flac.save()
    assert lyrics.embedded(os.fsencode(path)).synced_lrc == LRC.strip()


def test_the_frames_of_an_mp3(tmp_path):
    path = tmp_path / "a.mp3"
    tags = ID3()
    tags.add(USLT(encoding=3, lang="nob", desc="", text="Fjære sjø"))
    tags.save(path)
    path.write_bytes(path.read_bytes() + (b"\xff\xfb\x90\x00" + bytes(413)) * 10)
    assert lyrics.embedded(os.fsencode(path)) == lyrics.Words(None, "Fjære sjø", "nob")

    tags.add(SYLT(encoding=3, lang="eng", format=2, type=1, desc="", text=[("Low", 12000), ("\nHigh", 77250)]))
    tags.save(path)
    assert lyrics.embedded(os.fsencode(path)).synced_lrc == "[00:12.00]Low\n[01:17.25]High"


@pytest.mark.parametrize("name", ["LYRICS", "UNSYNCEDLYRICS"])
def test_words_in_a_frame_of_the_users_own(tmp_path, name):
    path = tmp_path / "a.mp3"
    tags = ID3()
    tags.add(TXXX(encoding=3, desc=name, text=["Low water"]))
    tags.save(path)
    path.write_bytes(path.read_bytes() + (b"\xff\xfb\x90\x00" + bytes(413)) * 10)

    assert lyrics.embedded(os.fsencode(path)).plain == "Low water"


def test_the_atom_of_an_mp4(tmp_path):
    path = sounds.put(tmp_path / "a.m4a", sounds.sine(0.2))
    file = MP4(path)
    file["\xa9lyr"] = LRC
    file.save()

    assert lyrics.embedded(os.fsencode(path)).synced_lrc == LRC.strip()


def test_a_file_beside_it_whatever_its_letters_are_made_of(tmp_path):
    # navidrome/navidrome#4148
    path = song(tmp_path, unicodedata.normalize("NFC", "Ærfugl på sjøen é.flac"))
    beside = tmp_path / unicodedata.normalize("NFD", "Ærfugl på sjøen é.LRC")
    beside.write_text(LRC, encoding="utf-8")

    assert lyrics.beside(os.fsencode(path)).synced_lrc == LRC.strip()


def test_times_are_worth_more_than_text_and_text_more_than_nothing(tmp_path):
    path = song(tmp_path, "a.flac")
    (tmp_path / "a.txt").write_bytes("H\xf8yt vann".encode("latin-1"))
    assert lyrics.beside(os.fsencode(path)).plain == "Høyt vann"

    (tmp_path / "a.lrc").write_text(LRC)
    assert lyrics.beside(os.fsencode(path)).synced_lrc == LRC.strip()

    (tmp_path / "a.lrc").write_text("")
    assert lyrics.beside(os.fsencode(path)).plain == "Høyt vann"


def test_neither_links_nor_pipes_nor_novels_are_read(tmp_path):
    path = song(tmp_path, "a.flac")
    (tmp_path / "secret").write_text("root:x:0:0")
    (tmp_path / "a.lrc").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "a.txt")
    assert lyrics.beside(os.fsencode(path)) is None

    (tmp_path / "a.txt").unlink()
    (tmp_path / "a.txt").write_text("word " * 300_000)
    assert lyrics.beside(os.fsencode(path)) is None
