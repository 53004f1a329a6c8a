"""The demo's library: that it is what it says."""

import hashlib
from pathlib import Path

from jobbko.demo import samples, synth
from tests import sounds


def test_the_files_are_there_with_their_tags():
    import mutagen

    folder = sounds.library()

    assert {
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.suffix != ".jpg"
    } == {sample.path for sample in samples.SAMPLES}
    assert {Path(sample.path).suffix for sample in samples.SAMPLES} == {
        ".mp3",
        ".flac",
        ".m4a",
        ".ogg",
        ".opus",
        ".wav",
    }
    for sample in samples.SAMPLES:
        if sample.bpm:
            assert 20 <= mutagen.File(folder / sample.path).info.length <= 40


def test_a_piece_is_the_same_every_time():
    one, other = (synth.piece(tonic=2, mode="minor", bpm=110, seconds=5, seed=4) for _ in range(2))

    assert hashlib.sha256(one.tobytes()).digest() == hashlib.sha256(other.tobytes()).digest()


def test_a_picture_is_the_same_every_time():
    assert samples.cover("a", "b", "#123456") == samples.cover("a", "b", "#123456")
