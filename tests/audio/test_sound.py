"""The sound of a recording: decoded whole, cut where it is quiet, without losing a sample."""

import numpy
import pytest

from jobbko.audio import sound
from jobbko.audio.sound import RATE, pieces
from jobbko.errors import Charged, Missing


def noise(*parts):
    """(seconds, amplitude) one after another."""
    dice = numpy.random.default_rng(1)
    return numpy.concatenate(
        [(dice.uniform(-1, 1, int(seconds * RATE)) * amplitude).astype("<i2") for seconds, amplitude in parts]
    )


@pytest.fixture
def wav(tmp_path):
    def write(samples):
        path = tmp_path / "sound.wav"
        path.write_bytes(sound.wav(samples))
        return str(path)

    return write


def test_a_wav_file_of_its_rate_is_decoded_to_the_very_same_samples(wav):
    samples = noise((1.5, 20_000))
    with sound.decoded(wav(samples)) as found:
        assert numpy.array_equal(found.samples, samples)
        assert found.duration_ms == 1500


def test_a_short_recording_is_one_piece():
    (piece,) = pieces(noise((20, 1000)), 20)
    assert (piece.start, piece.end, piece.seconds) == (0, 20 * RATE, 20)


def test_a_long_one_is_cut_in_the_silence_of_the_last_tenth():
    samples = noise((18.5, 9000), (0.4, 10), (10, 9000), (8, 9000), (0.4, 10), (3, 9000))
    first, second, third = pieces(samples, 20)

    assert first.end / RATE == pytest.approx(18.7, abs=0.1)
    assert second.end / RATE == pytest.approx(37.1, abs=0.1)
    assert third.end == len(samples)


@pytest.mark.parametrize("seconds", [0.1, 5, 5.01, 61.7])
def test_the_pieces_together_are_the_recording(seconds):
    samples = noise((seconds, 5000))
    cut = pieces(samples, 5)

    assert numpy.array_equal(numpy.concatenate([samples[each.start : each.end] for each in cut]), samples)
    assert max(each.seconds for each in cut) <= 5
    assert [each.number for each in cut] == list(range(len(cut)))


def test_a_recording_of_silence_is_cut_too():
    assert len(pieces(numpy.zeros(RATE * 12, dtype="<i2"), 5)) == 3


def test_what_has_no_sound_is_invalid_and_what_is_gone_is_missing(tmp_path):
    text = tmp_path / "text.mp3"
    text.write_text("no sound " * 100)
    with pytest.raises(Charged, match="no sound that ffmpeg can decode"), sound.decoded(str(text)):
        pass
    with pytest.raises(Missing, match="is gone"), sound.decoded(str(tmp_path / "none.mp3")):
        pass
