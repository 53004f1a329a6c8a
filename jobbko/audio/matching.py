"""Whether what we have is what somebody else describes: tracks and albums, compared by names, lengths and places.

The distance of two things is a number from 0 (the same in all that both say) to 1. It weighs as beets does
(https://beets.readthedocs.io/en/stable/reference/config.html#distance-weights), track by track: that an album has as
many tracks as another says nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: Albums and loose recordings farther apart than this are taken for different ones, and nothing is written.
ALBUM, RECORDING = 0.15, 0.12
#: Tracks farther apart than this are different ones, whatever their albums are.
TRACK = 0.3
#: Seconds by which two lengths of one recording differ easily, and by which they are told to be two.
_SAME_LENGTH, _OTHER_LENGTH = 10, 30

_FEATURING = re.compile(r"[(\[ ]+(feat\.?|ft\.?|featuring) .*$", re.IGNORECASE)
#: "(Deluxe Edition)", "[2011 Remaster]": an edition of the same thing.
EDITION = re.compile(
    r"\s*[(\[][^()\[\]]*\b(edition|remaster(ed)?|deluxe|expanded|anniversary|bonus tracks?|explicit)\b[^()\[\]]*[)\]]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Song:
    """A track as one side describes it. title "" and None: that side does not say. id: whatever names the recording."""

    title: str
    artist: str = ""
    seconds: float | None = None
    disc: int | None = None
    number: int | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """pairs: (index of ours, index of theirs, distance); distance: of the albums, their tracks included."""

    pairs: tuple[tuple[int, int, float], ...]
    distance: float


def albums(
    title: str,
    artist: str,
    ours: Sequence[Song],
    their_title: str,
    their_artist: str,
    theirs: Sequence[Song],
    *,
    various: bool = False,
) -> Match:
    """Pair the tracks, each with one at most, and tell how far apart the albums are. various: it has no one artist."""
    pairs = paired(ours, theirs, artists=various)
    distances = [
        (3.0, names(EDITION.sub("", title), EDITION.sub("", their_title))),
        (0.0 if various or not artist else 3.0, names(artist, their_artist)),
        (5.0, sum(distance for *_, distance in pairs) / len(pairs) if pairs else 1.0),
        (4.0, 1 - len(pairs) / len(ours) if ours else 1.0),  # ours that are not on theirs
        (0.5, 1 - len(pairs) / len(theirs) if theirs else 1.0),  # theirs that we lack: albums are often incomplete
    ]
    return Match(tuple(pairs), _weighed(distances))


def paired(ours: Sequence[Song], theirs: Sequence[Song], *, artists: bool = False) -> list[tuple[int, int, float]]:
    """The nearest first, each used once; none farther apart than TRACK."""
    costs = sorted(
        (distance, abs(one - other), one, other)
        for one, our in enumerate(ours)
        for other, their in enumerate(theirs)
        if (distance := songs(our, their, artists=artists)) <= TRACK
    )
    pairs, used, taken = list[tuple[int, int, float]](), set[int](), set[int]()
    for distance, _, one, other in costs:
        if one not in used and other not in taken:
            used.add(one)
            taken.add(other)
            pairs.append((one, other, distance))
    return sorted(pairs)


def songs(one: Song, other: Song, *, artists: bool = False, places: bool = True) -> float:
    """artists: whether they belong to the comparison, as on a compilation; places: whether disc and number do."""
    if one.id is not None and one.id == other.id:
        return 0.0
    known = bool(one.title and other.title)
    return _weighed(
        [
            (3.0 if known else 0.0, names(one.title, other.title)),
            (2.0 if artists and one.artist and other.artist else 0.0, names(one.artist, other.artist)),
            (2.0 if one.seconds and other.seconds else 0.0, lengths(one.seconds, other.seconds)),
            (1.0 if places and one.number and other.number else 0.0, _places(one, other)),
            (0.0 if known else 1.0, 0.0 if one.seconds and other.seconds else 1.0),  # no title and no length: a guess
        ]
    )


def lengths(one: float | None, other: float | None) -> float:
    apart = abs((one or 0) - (other or 0))
    return min(1.0, max(0.0, (apart - _SAME_LENGTH) / (_OTHER_LENGTH - _SAME_LENGTH)))


def _places(one: Song, other: Song) -> float:
    same_disc = one.disc is None or other.disc is None or one.disc == other.disc
    return 0.0 if same_disc and one.number == other.number else 1.0


def names(one: str, other: str) -> float:
    """0: the same name in another spelling; 1: nothing in common. By edits between them (Levenshtein)."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_distance(folded(one), folded(other))


def folded(name: str) -> str:
    """Without what spellings differ in: case, accents, punctuation, "The", "&", guests. Empty only if the name is."""
    plain = unicodedata.normalize("NFKD", _FEATURING.sub("", name)).casefold().replace("&", " and ")
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    words = re.sub(r"[^\w]+", " ", plain.replace("'", "").replace("’", "")).split()
    if len(words) > 1 and words[0] == "the":
        words = words[1:]
    return " ".join(words) or name.strip().casefold()


def _weighed(distances: Iterable[tuple[float, float]]) -> float:
    total, weight = 0.0, 0.0
    for heavy, distance in distances:
        total += heavy * distance
        weight += heavy
    return total / weight if weight else 1.0
