"""Files that are called like music and are none."""

import pytest

from jobbko.audio import analysis, impostors, tags
from tests import sounds


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty file"),
        (bytes(5000), "not audio (begins with zeros)"),
        (b"\xef\xbb\xbf\n<!DOCTYPE html><title>404</title>", "not audio (looks like HTML)"),
        (b"<html><body>Please log in</body></html>", "not audio (looks like HTML)"),
        ("#EXTM3U\r\nÁgætis byrjun.flac\n".encode() * 99, "not audio (looks like text)"),
        (b"a" + "ø".encode() * 2000, "not audio (looks like text)"),
        (b"ID3\x04\x00\x00\x00\x00\x0f\x76", ""),
    ],
)
def test_what_is_no_music_is_told_in_a_few_words(tmp_path, content, said):
    path = tmp_path / "song.mp3"
    path.write_bytes(content)
    assert impostors.told(bytes(path)) == said


@pytest.mark.parametrize("content", [b"", b"<html><body>Please log in</body></html>" * 50])
def test_both_its_tags_and_its_measurement_say_so(tmp_path, content):
    path = tmp_path / "song.mp3"
    path.write_bytes(content)
    said = impostors.told(bytes(path))
    assert tags.read(bytes(path)).error == said
    measured = analysis.measure(bytes(path))
    assert (measured["status"], measured["reason"]) == ("undecodable", said)


def test_music_without_tags_is_no_impostor(tmp_path):
    path = sounds.put(tmp_path / "a.wav", sounds.sine(1))
    assert tags.read(bytes(path)).error == ""
