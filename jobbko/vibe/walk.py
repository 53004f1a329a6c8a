"""Choose a batch: a walk from what was last played, each step near to it and to what the batch is to sound like."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jobbko.audio import matching
from jobbko.vibe import wording
from jobbko.vibe.likeness import Spread, Track, distance, key_apart, tempo_apart

#: Tracks in a batch; every so many of them explores, which is a share of 20 %.
SIZE, EXPLORE_EVERY = 10, 5
#: The nearest so many are the beaten track; exploring goes beyond them.
BEATEN = 2 * SIZE
#: No artist twice within so many tracks, if there are others.
ARTIST_GAP = 5
#: How far one step may go, if a shorter one is there: share of the tempo, steps on the wheel, energy.
TEMPO_JUMP, KEY_JUMP, ENERGY_JUMP = 0.12, 2, 0.25
#: What counts beside the distance to the seeds: the step from the last track, each skip, and chance.
STEP, SKIP, CHANCE = 0.5, 0.15, 0.05

_WORDS = (
    r"(remaster(ed)?|edition|deluxe|expanded|anniversary|bonus track|explicit|live|acoustic|unplugged|demo|remix|mix"
    r"|edit|version|mono|stereo|instrumental)"
)
#: "(Live in Oslo)", "[2011 Remaster]", " - Radio Edit": another version of the same song, no change to a listener.
_VERSION = re.compile(
    rf"\s*[(\[][^()\[\]]*\b{_WORDS}\b[^()\[\]]*[)\]]|\s+[-–]\s+[^-–]*\b{_WORDS}\b[^-–]*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Seed:
    """A track that the batch is to sound like. kind: played, favourite or chance."""

    track: Track
    kind: str
    weight: float


@dataclass(frozen=True, slots=True)
class Pick:
    track: Track
    score: float
    explored: bool
    reason: str


def choose(
    candidates: Sequence[Track],
    *,
    seeds: Sequence[Seed],
    before: Sequence[Track] = (),
    taken: Sequence[Track] = (),
    spread: Spread,
    seed: int,
    size: int = SIZE,
) -> list[Pick]:
    """Up to `size` of the candidates, in the order to play them.

    before: what was played just before, the last one last; taken: what must not come again under another name.
    """
    if not seeds:
        return []
    walk = _Walk(candidates, seeds, before, taken, spread, seed)
    return list(itertools.islice(walk.steps(), size))


class _Walk:
    """What is left to choose from, and where it has led so far."""

    def __init__(
        self,
        candidates: Sequence[Track],
        seeds: Sequence[Seed],
        before: Sequence[Track],
        taken: Sequence[Track],
        spread: Spread,
        seed: int,
    ) -> None:
        self.spread = spread
        self.kinds = {each.track.id: each.kind for each in seeds}
        self.gone = {name for track in [*before, *taken] for name in same_song(track)}
        self.artists = [artist(track) for track in before]
        self.last = before[-1] if before else seeds[0].track
        weight = sum(each.weight for each in seeds)
        self.vibe = {
            track.id: sum(each.weight * distance(each.track, track, spread) for each in seeds) / weight
            for track in candidates
        }
        self.chance = {track.id: chance(seed, track.id) for track in candidates}
        ranked = sorted(candidates, key=lambda track: (self.vibe[track.id], track.id))
        self.beaten = {track.id for track in ranked[:BEATEN]}
        self.left = ranked

    def steps(self) -> Iterator[Pick]:
        for place in range(1, len(self.left) + 1):
            self.left = [track for track in self.left if self.gone.isdisjoint(same_song(track))]
            if not self.left:
                return
            exploring = self.unbeaten() if place % EXPLORE_EVERY == 0 else []
            track = self.nearest(self.apart_by_artist(exploring or self.left), exploring=bool(exploring))
            yield self.pick(track, explored=bool(exploring))
            self.gone |= same_song(track)
            self.artists.append(artist(track))
            self.last = track

    def unbeaten(self) -> list[Track]:
        """Where exploring leads: off the beaten track and never heard, or else one of the two, or nowhere."""
        far = [track for track in self.left if track.id not in self.beaten]
        unheard = [track for track in self.left if not track.plays]
        both = [track for track in far if not track.plays]
        return both or far or (unheard if len(unheard) < len(self.left) else [])

    def apart_by_artist(self, tracks: list[Track]) -> list[Track]:
        """Those whose artist was longest away; all of them, if each was away for long enough."""
        for gap in range(ARTIST_GAP, 0, -1):
            lately = {name for name in self.artists[-gap:] if name}
            if fitting := [track for track in tracks if artist(track) not in lately]:
                return fitting
        return tracks

    def nearest(self, tracks: list[Track], *, exploring: bool) -> Track:
        within = [track for track in tracks if smooth(self.last, track)]
        return min(within or tracks, key=lambda track: (self.cost(track, exploring=exploring), track.id))

    def cost(self, track: Track, *, exploring: bool) -> float:
        """Exploring, only the step counts: to stay near the seeds is what it is not to do."""
        step = STEP * distance(self.last, track, self.spread)
        liking = 0.0 if exploring else self.vibe[track.id]
        return liking + step + SKIP * track.skips + CHANCE * self.chance[track.id]

    def pick(self, track: Track, *, explored: bool) -> Pick:
        score = max(0.0, 1 - self.vibe[track.id] - SKIP * track.skips)
        reason = wording.reason(self.last, track, kind=self.kinds.get(track.id, ""), explored=explored)
        return Pick(track, round(score, 4), explored, reason)


def smooth(one: Track, other: Track) -> bool:
    """Whether the step is within bounds in all that both tracks say."""
    tempo, key = tempo_apart(one, other), key_apart(one, other)
    if (tempo is not None and tempo > TEMPO_JUMP) or (key is not None and key > KEY_JUMP):
        return False
    return one.energy is None or other.energy is None or abs(one.energy - other.energy) <= ENERGY_JUMP


def same_song(track: Track) -> set[tuple[str, ...]]:
    """Names by which it is the same as another: its recording, and its title and artist in any spelling or version.

    Not its sound: of pairs that a vector takes for the same, 10 to 33 % are not (NeptuneHub/AudioMuse-AI#773).
    """
    names = set[tuple[str, ...]]([("id", track.id)])
    if track.mb_recording_id:
        names.add(("recording", track.mb_recording_id))
    if track.title and track.artist_credit:
        title = _VERSION.sub("", track.title) or track.title
        names.add(("name", matching.folded(title), matching.folded(track.artist_credit)))
    return names


def artist(track: Track) -> str:
    """What makes two tracks one artist's; "" if nobody knows."""
    return track.artist_id or matching.folded(track.artist_credit)


def chance(seed: int, id: str) -> float:
    """0 to 1, by lot; the same for the same seed, in any order of asking, on any machine."""
    digest = hashlib.blake2b(f"{seed}/{id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64
