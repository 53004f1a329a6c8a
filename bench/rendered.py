"""Music with a known key and tempo: a small band, composed by dice, written as MIDI and played by fluidsynth.

Ten styles, each once in each of the 24 keys, tempos from 60 to 180 quarter notes a minute, two sound fonts. The same
seed gives the same notes. A part is one text for each bar, a character for each sixteenth; see PART.
"""

from __future__ import annotations

import importlib.util
import random
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mido

FONTS = tuple(Path("/usr/share/sounds/sf2") / name for name in ("TimGM6mb.sf2", "FluidR3_GM.sf2"))
#: As long as the excerpts of the usual collections (GTZAN, Ballroom).
SECONDS = 30
TICKS = 480
SCALES = {"major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 10)}
#: Chords by the step of the scale they stand on, one a bar; 0 is home. The fifth of minor has its leading tone. Not
#: among them: i-VI-III-VII, whose chords are vi-IV-I-V of the relative major; in which of the two it is, no note says.
PROGRESSIONS = {
    "major": ((0, 3, 4, 0), (0, 5, 3, 4), (0, 4, 5, 3), (0, 5, 1, 4)),
    "minor": ((0, 3, 4, 0), (0, 5, 3, 4), (0, 6, 5, 4), (0, 5, 2, 4)),
}
#: What a character of a part means, for chords and bass: steps of the chord, counted in thirds, that sound together.
PART = {"c": (0, 1, 2), "7": (0, 1, 2, 3), "0": (0,), "1": (1,), "2": (2,), "3": (3,), "h": (1, 2)}
KICK, STICK, SNARE, CLAP, HAT, OPEN, RIDE, SHAKER = 36, 37, 38, 39, 42, 46, 51, 82


@dataclass(frozen=True, slots=True)
class Style:
    """slowest, fastest: quarter notes a minute. programs: General MIDI's numbers for chords, bass and tune."""

    slowest: int
    fastest: int
    programs: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    chords: str
    bass: str
    drums: dict[int, str]
    beats: int = 4
    swing: bool = False
    busy: float = 0.5  # how likely the tune has a note on an eighth
    loose: float = 0.006  # seconds by which a player is early or late; 0 for machines


STYLES = {
    "ballad": Style(
        *(60, 85, ((0, 4, 24), (32, 33), (40, 73, 66))),
        chords="0-1-2-1-0-1-2-1-",
        bass="0-------2-------",
        drums={HAT: "x...x...x...x...", KICK: "x.......x.......", STICK: "....x.......x..."},
        busy=0.35,
    ),
    "pop": Style(
        *(85, 125, ((0, 24, 89), (33, 34), (80, 73, 56))),
        chords="c---c-c---c-c---",
        bass="0-..0-0-..0-2-..",
        drums={HAT: "x.x.x.x.x.x.x.x.", KICK: "x.....x.x.......", SNARE: "....x.......x..."},
    ),
    "rock": Style(
        *(100, 170, ((29, 30, 27), (33, 34), (30, 29))),
        chords="c-c-c-c-c-c-c-c-",
        bass="0-0-0-0-0-0-0-2-",
        drums={HAT: "x.x.x.x.x.x.x.x.", KICK: "x.......x.x.....", SNARE: "....x.......x..."},
    ),
    "house": Style(
        *(118, 132, ((4, 90, 16), (38, 39), (81, 80))),
        chords="..c...c...c..c..",
        bass="..0...0...0...2.",
        drums={KICK: "x...x...x...x...", CLAP: "....x.......x...", OPEN: "..x...x...x...x.", HAT: "xx.xxx.xxx.xxx.x"},
        loose=0,
    ),
    "drum and bass": Style(
        *(160, 180, ((89, 50, 4), (38, 39), (81, 73))),
        chords="c---------------",
        bass="0-....2-..0-....",
        drums={
            KICK: "x.........x.....",
            SNARE: "....x.......x...",
            HAT: "x.x.x.x.x.x.x.x.",
            SHAKER: "...x...x.x.x...x",
        },
        busy=0.25,
        loose=0,
    ),
    "waltz": Style(
        *(84, 180, ((0, 48, 21), (32, 43), (40, 73, 71))),
        chords="....c-..c-..",
        bass="0---........",
        drums={KICK: "x...........", STICK: "....x...x..."},
        beats=3,
    ),
    "reggae": Style(
        *(64, 90, ((16, 27, 0), (33, 32), (56, 73))),
        chords="..c-..c-..c-..c-",
        bass="0-..1-2-..0-0-2-",
        drums={HAT: "x.x.x.x.x.x.x.x.", KICK: "........x.......", STICK: "........x......."},
    ),
    "bossa nova": Style(
        *(105, 150, ((24, 0), (32,), (73, 66, 64))),
        chords="7-..7-....7-..7-",
        bass="0-----2-2-----0-",
        drums={STICK: "x.....x.....x...", HAT: "x.x.x.x.x.x.x.x.", KICK: "x.....x.x.....x."},
    ),
    "swing": Style(
        *(110, 180, ((0, 26), (32,), (65, 56, 66))),
        chords="7-....7-........",
        bass="0---1---2---3---",
        drums={RIDE: "x...x.x.x...x.x.", HAT: "....x.......x..."},
        swing=True,
    ),
    "chamber": Style(
        *(66, 140, ((48, 6, 45), (42, 70), (40, 68, 73))),
        chords="0-2-1-2-0-2-1-2-",
        bass="0-------0---2---",
        drums={},
        busy=0.6,
        loose=0.01,
    ),
}


@dataclass(frozen=True, slots=True)
class Clip:
    name: str
    style: str
    bpm: float
    tonic: int  # pitch class, 0 is C
    mode: str
    font: Path


def clips(seed: int) -> list[Clip]:
    """240 of them; in each style the 24 tempos are spread over its range and dealt to the keys."""
    made = []
    for number, (name, style) in enumerate(STYLES.items()):
        dice = random.Random(f"{seed} {name}")
        deal = dice.sample(range(24), 24)
        for key in range(24):
            bpm = style.slowest + (style.fastest - style.slowest) * (deal[key] + dice.random()) / 24
            tonic, mode = key % 12, ("major", "minor")[key // 12]
            font = FONTS[(number + key + key // 12) % 2]
            made.append(Clip(f"{seed}-{name}-{key:02}".replace(" ", "-"), name, round(bpm, 1), tonic, mode, font))
    return made


def missing() -> str:
    """What is to be installed first, in a sentence; empty if nothing is."""
    needed = []
    if importlib.util.find_spec("mido") is None:
        needed.append("pip install -e '.[bench]'")
    if shutil.which("fluidsynth") is None or not all(font.exists() for font in FONTS):
        needed.append("apt-get install fluidsynth timgm6mb-soundfont fluid-soundfont-gm")
    return f"Needed first: {'; '.join(needed)}" if needed else ""


def render(clip: Clip, folder: Path) -> Path:
    """A WAV of stereo at 44.1 kHz."""
    midi, sound = folder / f"{clip.name}.mid", folder / f"{clip.name}.wav"
    compose(clip).save(midi)
    command = ["fluidsynth", "-ni", "-q", "-g", "0.5", "-r", "44100", "-F", sound, clip.font, midi]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return sound


def compose(clip: Clip) -> mido.MidiFile:
    import mido

    style, dice = STYLES[clip.style], random.Random(clip.name)
    bars = max(8, round(SECONDS * clip.bpm / 60 / style.beats / 4) * 4)
    progression = dice.choice(PROGRESSIONS[clip.mode])
    steps = [progression[bar % 4] for bar in range(bars)] + [0]  # the last one closes, at home
    ticks_a_second = TICKS * clip.bpm / 60
    file = mido.MidiFile(ticks_per_beat=TICKS)
    tempo = mido.MetaMessage("set_tempo", tempo=round(60e6 / clip.bpm))
    file.tracks.append(mido.MidiTrack([tempo]))
    loudness = (66, 84, 88)
    notes = (
        part(clip, steps, style.chords, middle=54),
        part(clip, steps, style.bass, middle=36, bass=True),
        tune(clip, steps, dice),
    )
    for channel, (programs, played) in enumerate(zip(style.programs, notes, strict=True)):
        track = [mido.Message("program_change", channel=channel, program=dice.choice(programs))]
        file.tracks.append(performed(track, played, channel, loudness[channel], style, dice, ticks_a_second))
    beaten = drums(style, bars)
    file.tracks.append(performed([], beaten, 9, 92, style, dice, ticks_a_second))
    return file


def chord(clip: Clip, step: int, third: int) -> int:
    """Semitones above the tonic of a third of the chord on a step of the scale."""
    place = step + 2 * third
    raised = clip.mode == "minor" and step == 4 and place % 7 == 6
    return SCALES[clip.mode][place % 7] + 12 * (place // 7) + raised


def part(clip: Clip, steps: list[int], text: str, *, middle: int, bass: bool = False) -> Iterator[tuple[int, int, int]]:
    """(sixteenth, sixteenths long, MIDI number); the closing bar is one long chord."""
    home = middle + (clip.tonic - middle) % 12
    for bar, step in enumerate(steps):
        written = text if bar < len(steps) - 1 else ("0" if bass else "c") + "-" * (len(text) - 1)
        for at, letter in enumerate(written):
            if letter in PART:
                held = len(written[at + 1 :]) - len(written[at + 1 :].lstrip("-"))
                for third in PART[letter]:
                    pitch = home + chord(clip, step, third)
                    # In the octave of the part, as a player would invert it.
                    lowest = middle - 8 if bass else middle - 2
                    while pitch >= lowest + (16 if bass else 18):
                        pitch -= 12
                    yield bar * len(text) + at, 1 + held, pitch


def tune(clip: Clip, steps: list[int], dice: random.Random) -> Iterator[tuple[int, int, int]]:
    """Two bars of rhythm that return; on the beat a note of the chord, between beats a step of the scale."""
    style = STYLES[clip.style]
    eighths = style.beats * 2
    rhythm = [[dice.random() < (style.busy if at % 2 else style.busy + 0.3) for at in range(eighths)] for _ in range(2)]
    scale = SCALES[clip.mode]
    home = 54 + (clip.tonic - 54) % 12
    place = 7  # steps of the scale above home
    for bar, step in enumerate(steps):
        if bar == len(steps) - 1:
            yield bar * eighths * 2, eighths * 2, home + 12
            return
        played = [at for at in range(eighths) if rhythm[bar % 2][at]]
        for at, after in pairwise([*played, eighths]):
            place = min(13, max(1, place + dice.choice((-2, -1, -1, 0, 1, 1, 2))))
            pitch = scale[place % 7] + 12 * (place // 7)
            raised = clip.mode == "minor" and step == 4 and place % 7 == 6
            if at % 2 == 0:
                near = [chord(clip, step, third) % 12 + 12 * octave for third in range(3) for octave in range(3)]
                pitch, raised = min(near, key=lambda tone: abs(tone - pitch)), False
            yield bar * eighths * 2 + at * 2, (after - at) * 2, home + pitch + raised


def drums(style: Style, bars: int) -> Iterator[tuple[int, int, int]]:
    for bar in range(bars):
        for drum, text in style.drums.items():
            yield from ((bar * len(text) + at, 1, drum) for at, letter in enumerate(text) if letter == "x")


def performed(
    track: list[mido.Message],
    notes: Iterator[tuple[int, int, int]],
    channel: int,
    loudness: int,
    style: Style,
    dice: random.Random,
    ticks_a_second: float,
) -> mido.MidiTrack:
    """Notes as a person plays them: not quite in time, not all equally loud."""
    import mido

    events = []
    for at, long, pitch in notes:
        begin = sixteenth(at, style.swing) + dice.gauss(0, style.loose) * ticks_a_second
        end = sixteenth(at + long, style.swing) - TICKS / 32
        accent = 8 if at % (4 * style.beats) == 0 else 0
        velocity = min(127, max(20, loudness + accent + dice.randint(-8, 8)))
        begin = max(0, round(begin))
        events.append((begin, 1, mido.Message("note_on", channel=channel, note=pitch, velocity=velocity)))
        events.append((max(begin + 20, round(end)), 0, mido.Message("note_off", channel=channel, note=pitch)))
    now = 0
    for at, _, message in sorted(events, key=lambda event: event[:2]):
        track.append(message.copy(time=at - now))
        now = at
    return mido.MidiTrack(track)


def sixteenth(at: int, swing: bool) -> float:
    """Ticks; in swing the second half of a beat begins after two thirds of it."""
    beat, rest = divmod(at, 4)
    share = (0, 1 / 3, 2 / 3, 5 / 6)[rest] if swing else rest / 4
    return (beat + share) * TICKS
