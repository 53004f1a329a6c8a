"""Why a track was picked, in words that a listener understands: beside the track that comes before it."""

from __future__ import annotations

from jobbko.vibe.likeness import Track, key_apart, tempo_apart

#: Closer than this is close: share of the tempo, steps on the wheel, energy.
CLOSE_TEMPO, CLOSE_KEY, CLOSE_ENERGY = 0.06, 1, 0.1


def reason(before: Track, track: Track, *, kind: str = "", explored: bool = False) -> str:
    """kind: of the seed, if the track is one itself."""
    parts = ["for a change, away from what you have played"] if explored else []
    if kind == "favourite":
        parts.append("one of your favourites")
    elif kind == "chance":
        parts.append("to begin with, picked by chance")
    if before.id != track.id:
        parts += compared(before, track)
    if not track.plays:
        parts.append("you have not heard it yet")
    if track.skips:
        parts.append(f"though you skipped it {times(track.skips)}")
    return "; ".join(parts) or "the nearest that is left"


def compared(before: Track, track: Track) -> list[str]:
    close, other = list[str](), list[str]()
    tempo, key = tempo_apart(before, track), key_apart(before, track)
    if tempo is not None:
        (close if tempo <= CLOSE_TEMPO else other).append(
            f"tempo ({change(f'{before.bpm:.0f}', f'{track.bpm:.0f}')} BPM)"
        )
    if key is not None:
        (close if key <= CLOSE_KEY else other).append(
            f"key ({change(str(before.key_camelot), str(track.key_camelot))})"
        )
    if before.energy is not None and track.energy is not None:
        if abs(before.energy - track.energy) <= CLOSE_ENERGY:
            close.append("energy")
        else:
            other.append("more energy" if track.energy > before.energy else "less energy")
    said = [f"close in {listed(close)}"] if close else []
    return said + ([f"new: {listed(other)}"] if other else [])


def change(one: str, other: str) -> str:
    return one if one == other else f"{one} → {other}"


def listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
