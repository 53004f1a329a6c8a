"""A small band in numpy: chords, bass, a tune and drums, in a given key and tempo, the same every time."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

    Sound = numpy.typing.NDArray[numpy.float64]

RATE = 44_100
MAJOR = (0, 2, 4, 5, 7, 9, 11)
MINOR = (0, 2, 3, 5, 7, 8, 10)
#: Chords by the step of the scale that they stand on (0 is the tonic); they start and end at home.
PROGRESSIONS = {
    "major": ((0, 3, 4, 0), (0, 5, 3, 4), (0, 4, 5, 3)),
    "minor": ((0, 3, 4, 0), (0, 5, 3, 4), (0, 3, 6, 0)),
}


def piece(*, tonic: int, mode: str, bpm: float, seconds: float, seed: int) -> Sound:
    """Stereo, shape (samples, 2), peak 0.7. tonic: pitch class, 0 is C."""
    import numpy

    dice = numpy.random.default_rng(seed)
    beat = 60 / bpm
    bars = int(seconds / (4 * beat))
    total = numpy.zeros((int(bars * 4 * beat * RATE) + RATE, 2))
    progression = PROGRESSIONS[mode][seed % 3]
    scale = MAJOR if mode == "major" else MINOR
    for bar in range(bars):
        step = 0 if bar == bars - 1 else progression[bar % 4]
        start = bar * 4 * beat
        chord = [_pitch(scale, tonic, step + third) for third in (0, 2, 4)]
        if mode == "minor" and step == 4:
            chord[1] += 1  # the leading tone, without which a minor key is hard to tell from its relative
        _add(total, start, _pad(tuple(chord), 4 * beat), left=0.5, right=0.4)
        for half in range(8):
            low = chord[0] - 24 if half % 4 != 3 else chord[2] - 24
            _add(total, start + half * beat / 2, _pluck(low, 0.45 * beat, brightness=3), left=0.5, right=0.5)
        for note in range(4):
            if dice.random() < 0.75:
                tune = chord[int(dice.integers(3))] + 12 * int(dice.integers(1, 3))
                _add(total, start + note * beat, _pluck(tune, 0.9 * beat, brightness=6), left=0.15, right=0.3)
        _drums(total, start, beat, dice)
    fade = numpy.minimum(1, numpy.arange(len(total), 0, -1) / RATE)[:, None]
    total *= fade
    return total * (0.7 / float(numpy.abs(total).max()))


def _pitch(scale: tuple[int, ...], tonic: int, step: int) -> int:
    """The MIDI number of a step of the scale, from the octave around middle C."""
    return 60 + (tonic if tonic < 7 else tonic - 12) + scale[step % 7] + 12 * (step // 7)


def _hertz(pitch: int) -> float:
    return 440.0 * math.exp2((pitch - 69) / 12)


#: A tune plays the same notes again and again.
_kept = functools.lru_cache(maxsize=64)


@_kept
def _pad(chord: tuple[int, ...], seconds: float) -> Sound:
    import numpy

    time = numpy.arange(int(seconds * RATE)) / RATE
    swell = numpy.minimum(1, time / 0.03) * numpy.minimum(1, (seconds - time) / 0.05)
    voices = [
        numpy.sin(2 * numpy.pi * _hertz(pitch) * overtone * time) * 0.5**overtone
        for pitch in chord
        for overtone in (1, 2, 3)
    ]
    sound: Sound = 0.22 * swell * numpy.sum(voices, axis=0)
    return sound


@_kept
def _pluck(pitch: int, seconds: float, brightness: int) -> Sound:
    import numpy

    time = numpy.arange(int(seconds * RATE)) / RATE
    attack = numpy.minimum(1, time / 0.004) * numpy.minimum(1, (seconds - time) / 0.01)
    overtones = [
        numpy.sin(2 * numpy.pi * _hertz(pitch) * n * time) * numpy.exp(-time * (2 + 2 * n)) / n
        for n in range(1, brightness + 1)
    ]
    sound: Sound = 0.5 * attack * numpy.sum(overtones, axis=0)
    return sound


def _drums(total: Sound, start: float, beat: float, dice: numpy.random.Generator) -> None:
    import numpy

    time = numpy.arange(int(0.18 * RATE)) / RATE
    kick = numpy.sin(2 * numpy.pi * (50 * time + 6 * (1 - numpy.exp(-time * 35)))) * numpy.exp(-time * 18)
    noise = dice.standard_normal(len(time))
    snare = noise * numpy.exp(-time * 26)
    hat = numpy.diff(noise, prepend=0) * numpy.exp(-time * 90)
    for count in range(4):
        at = start + count * beat
        if count % 2 == 0:
            _add(total, at, kick, left=0.9, right=0.9)
        else:
            _add(total, at, snare, left=0.28, right=0.34)
        _add(total, at, hat, left=0.12, right=0.08)
        _add(total, at + beat / 2, hat, left=0.07, right=0.12)


def _add(total: Sound, at: float, sound: Sound, *, left: float, right: float) -> None:
    first = round(at * RATE)
    room = total[first : first + len(sound)]
    room[:, 0] += left * sound[: len(room)]
    room[:, 1] += right * sound[: len(room)]
