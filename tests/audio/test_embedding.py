"""The vector of how music sounds: near for what sounds alike, finite and bounded for whatever is not music."""

import math

import numpy
import pytest

from jobbko.audio import embedding, features
from jobbko.demo import synth
from tests import sounds

pytestmark = pytest.mark.slow


def vector(sound: numpy.ndarray) -> list[float]:
    """Of stereo samples, as the analyzer makes it."""
    mono = numpy.ascontiguousarray(sound.mean(axis=1), dtype=numpy.float32)
    return list(features.measure(mono, -14)["embedding"])


@pytest.fixture(scope="module")
def music() -> list[float]:
    return vector(sounds.music())


def test_a_quieter_copy_is_the_same_music(music):
    assert math.dist(music, vector(sounds.music() * 0.1)) < 0.5


def test_the_same_band_in_another_key_is_nearer_than_a_tone_or_noise(music):
    other_key = vector(synth.piece(tonic=2, mode="minor", bpm=120, seconds=12, seed=1))
    noise = vector(numpy.random.default_rng(1).normal(0, 0.1, (12 * sounds.RATE, 2)))

    assert math.dist(music, other_key) < 6
    assert math.dist(music, noise) > 10
    assert math.dist(music, vector(sounds.sine(12))) > 10


def test_whatever_the_sound_the_numbers_are_finite_and_bounded():
    click = numpy.zeros((5 * sounds.RATE, 2))
    click[1000] = 1
    square = numpy.sign(sounds.sine(5, 50))
    loud = numpy.random.default_rng(1).normal(0, 1, (5 * sounds.RATE, 2))

    for sound in (click, square, loud):
        found = vector(sound)
        assert len(found) == embedding.SIZE
        assert all(abs(number) <= 5 for number in found)
