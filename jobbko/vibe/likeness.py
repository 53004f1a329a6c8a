"""How far apart two tracks sound: a list of weighted terms, each from 0 (alike) to 1 (as different as it gets)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jobbko.audio import features

#: A difference of so many standard deviations is as good as any greater one.
DEVIATIONS = 3
#: A share of the tempo, half and double being the same, by which nothing is alike any more; at most it is 0.41.
OTHER_TEMPO = 0.4
#: Steps on the Camelot wheel after which every key is equally foreign.
OTHER_KEY = 4
#: What a term counts for that one of the two cannot tell: neither alike nor different.
UNKNOWN = 0.5


@dataclass(frozen=True, slots=True)
class Track:
    """What is known of a track and of this listener with it. artist_id: "" if the artist is unknown.

    skips: those that still count, since she last played it to the end.
    """

    id: str
    title: str
    artist_credit: str
    artist_id: str
    mb_recording_id: str | None
    analysed: bool
    bpm: float | None
    key_camelot: str | None
    energy: float | None
    danceability: float | None
    lufs: float | None
    spectral_centroid: float | None
    melody_voiced_ratio: float | None
    melody_range: float | None
    melody_motion: float | None
    hpcp: Sequence[float] | None
    plays: int
    skips: int


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard deviations in the collection; None or 0: all its tracks are equal in that."""

    energy: float | None = None
    danceability: float | None = None
    lufs: float | None = None
    spectral_centroid: float | None = None
    melody_voiced_ratio: float | None = None
    melody_range: float | None = None
    melody_motion: float | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """apart answers None if one of the two tracks does not say."""

    name: str
    weight: float
    apart: Callable[[Track, Track, Spread], float | None]


def distance(one: Track, other: Track, spread: Spread) -> float:
    """0 to 1. What is unknown counts half, or a track of which nothing is known would be near to all."""
    total = weight = 0.0
    for term in TERMS:
        apart = term.apart(one, other, spread)
        total += term.weight * (UNKNOWN if apart is None else apart)
        weight += term.weight
    return total / weight


def key_steps(one: str, other: str) -> int:
    """From one key to another on the Camelot wheel: along it, and across from minor (A) to major (B)."""
    along = abs(int(one[:-1]) - int(other[:-1])) % 12
    return min(along, 12 - along) + (one[-1] != other[-1])


def tempo_apart(one: Track, other: Track) -> float | None:
    """As a share: 0.04 is 4 %. Half and double count as the same."""
    return features.tempo_distance(one.bpm, other.bpm) if one.bpm and other.bpm else None


def key_apart(one: Track, other: Track) -> int | None:
    return key_steps(one.key_camelot, other.key_camelot) if one.key_camelot and other.key_camelot else None


def _tempo(one: Track, other: Track, spread: Spread) -> float | None:
    apart = tempo_apart(one, other)
    return None if apart is None else min(1.0, apart / OTHER_TEMPO)


def _key(one: Track, other: Track, spread: Spread) -> float | None:
    apart = key_apart(one, other)
    return None if apart is None else min(1.0, apart / OTHER_KEY)


def _standardised(name: str) -> Callable[[Track, Track, Spread], float | None]:
    def apart(one: Track, other: Track, spread: Spread) -> float | None:
        mine, theirs, deviation = getattr(one, name), getattr(other, name), getattr(spread, name)
        if mine is None or theirs is None:
            return None
        return min(1.0, abs(mine - theirs) / (DEVIATIONS * deviation)) if deviation else 0.0

    return apart


def _pitch_classes(one: Track, other: Track, spread: Spread) -> float | None:
    """One minus the cosine of the two profiles, which are rotated so that the tonic is first."""
    if not one.hpcp or not other.hpcp or len(one.hpcp) != len(other.hpcp):
        return None
    lengths = math.hypot(*one.hpcp) * math.hypot(*other.hpcp)
    if not lengths:
        return None
    return min(1.0, max(0.0, 1 - sum(a * b for a, b in zip(one.hpcp, other.hpcp, strict=True)) / lengths))


#: What makes two tracks alike, and how much. A learned vector, once there is one, is one term more.
TERMS = (
    Term("tempo", 3.0, _tempo),
    Term("key", 2.0, _key),
    Term("energy", 2.0, _standardised("energy")),
    Term("danceability", 1.0, _standardised("danceability")),
    Term("brightness", 1.0, _standardised("spectral_centroid")),
    Term("loudness", 0.5, _standardised("lufs")),
    Term("pitch classes", 0.5, _pitch_classes),
    Term("melody in it", 0.5, _standardised("melody_voiced_ratio")),
    Term("melody's range", 0.25, _standardised("melody_range")),
    Term("melody's steps", 0.25, _standardised("melody_motion")),
)


def centre(seeds: Sequence[tuple[Track, float]]) -> dict[str, float]:
    """The middle of weighted tracks in the figures that a statement narrows a library down by: see listening.sql.

    Tempo and key are places on circles there, an octave and the wheel being one round: an angle, and how far out.
    """
    found = {name: _mean([(getattr(track, name), weight) for track, weight in seeds]) for name in NARROWED_BY}
    tempos = [(2 * math.pi * math.log2(track.bpm) if track.bpm else None, weight) for track, weight in seeds]
    keys = [(math.pi * int(t.key_camelot[:-1]) / 6 if t.key_camelot else None, weight) for t, weight in seeds]
    for name, angles in (("tempo", tempos), ("key", keys)):
        x = _mean([(None if a is None else math.cos(a), weight) for a, weight in angles])
        y = _mean([(None if a is None else math.sin(a), weight) for a, weight in angles])
        found |= {f"{name}_at": math.atan2(y, x), f"{name}_r": math.hypot(x, y)}
    return found


#: The figures of the centre that are no circles.
NARROWED_BY = ("energy", "danceability", "spectral_centroid", "lufs")


def _mean(values: Sequence[tuple[float | None, float]]) -> float:
    known = [(value, weight) for value, weight in values if value is not None]
    return sum(value * weight for value, weight in known) / sum(weight for _, weight in known) if known else 0.0
