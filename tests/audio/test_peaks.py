"""Peaks as BBC's audiowaveform writes them: the head by its documentation, the values by arithmetic."""

import struct
import subprocess
import wave

import numpy
import pytest

from jobbko.audio.decoding import ffmpeg
from jobbko.audio.peaks import peaks
from jobbko.errors import Charged, Missing


def sound(path, samples, rate=8000):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(numpy.asarray(samples, dtype="<i2").tobytes())
    return str(path)


def test_the_head_and_the_pairs_are_as_the_format_says(tmp_path):
    # 400 samples of 1000 and -1000, 400 of full scale, and 100 more of -1: the last pair has only those.
    samples = [1000, -1000] * 200 + [32767, -32768] * 200 + [-1] * 100
    found = peaks(sound(tmp_path / "a.wav", samples))

    version, flags, rate, per_pair, length, channels = struct.unpack("<iIiiIi", found.dat[:24])
    assert (version, flags, rate, per_pair, length, channels) == (2, 1, 8000, 400, 3, 1)
    # 1000 / 256 = 3.9, rounded down 3; -1000 / 256 = -3.9, rounded down -4; -1 / 256 rounded down is -1.
    assert struct.unpack("6b", found.dat[24:]) == (-4, 3, -128, 127, -1, -1)
    assert (found.length, found.samples, found.duration_ms) == (3, 900, 112)  # 900 / 8000 s = 112.5 ms, to even


def test_a_file_of_another_kind_and_rate_has_the_length_that_it_was_made_with(tmp_path):
    path = tmp_path / "a.mp3"
    command = [ffmpeg(), "-v", "error", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100:duration=10", path]
    subprocess.run(command, check=True)
    found = peaks(str(path))

    assert found.length == pytest.approx(200, abs=2)  # 20 pairs a second; an encoder pads
    assert found.duration_ms == pytest.approx(10_000, abs=100)


def test_what_is_longer_than_one_block_is_whole(tmp_path):
    # A block is 100 s. A click in the middle of second 150 is in pair 3010.
    samples = numpy.zeros(8000 * 230, dtype="<i2")
    samples[8000 * 150 + 4000] = 20000
    found = peaks(sound(tmp_path / "long.wav", samples))

    assert found.length == 4600
    loud = [at // 2 for at, value in enumerate(struct.unpack(f"{2 * found.length}b", found.dat[24:])) if value > 0]
    assert loud == [3010]


def test_a_file_without_sound_is_refused_with_its_name(tmp_path):
    (tmp_path / "notes.mp3").write_text("Dear diary,")
    with pytest.raises(Charged, match=r"notes\.mp3 has no sound that ffmpeg can decode"):
        peaks(str(tmp_path / "notes.mp3"))
    with pytest.raises(Missing):
        peaks(str(tmp_path / "gone.mp3"))
