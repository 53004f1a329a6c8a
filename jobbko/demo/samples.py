"""A small music library with known answers: eight files in the common formats, with pictures; one is broken."""

from __future__ import annotations

import io
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jobbko.audio.decoding import ffmpeg
from jobbko.demo import synth

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, slots=True)
class Sample:
    """A file and the truth about it: tempo in beats per minute, pitch class (0 is C) and mode. bpm 0: it is broken."""

    path: str  # below the folder
    title: str
    artist: str
    album: str
    track_no: int
    bpm: float
    pitch_class: int
    mode: str
    colour: str
    seconds: float = 26
    arguments: tuple[str, ...] = ()


_WEST, _NIGHT = "West of the Fjord", "Night Shift"
_WEST_FOLDER, _NIGHT_FOLDER = "Solveig Lund/West of the Fjord", "The Idle Threads/Night Shift"
SAMPLES = (
    Sample(
        *(f"{_WEST_FOLDER}/01 First Light.mp3", "First Light", "Solveig Lund", _WEST, 1, 100, 0, "major", "#d9a441"),
        arguments=("-c:a", "libmp3lame", "-b:a", "160k", "-id3v2_version", "3"),
    ),
    Sample(
        *(f"{_WEST_FOLDER}/02 Boathouse.flac", "Boathouse", "Solveig Lund", _WEST, 2, 120, 9, "minor", "#d9a441"),
        arguments=("-c:a", "flac"),
    ),
    Sample(
        *(f"{_WEST_FOLDER}/03 Ærfugl.m4a", "Ærfugl", "Solveig Lund", _WEST, 3, 90, 7, "major", "#d9a441"),
        arguments=("-c:a", "aac", "-b:a", "160k"),
    ),
    Sample(
        *(f"{_NIGHT_FOLDER}/01 Semaphore.ogg", "Semaphore", "The Idle Threads", _NIGHT, 1, 128, 4, "minor", "#3b5b92"),
        arguments=("-c:a", "libvorbis", "-q:a", "5"),
    ),
    Sample(
        *(f"{_NIGHT_FOLDER}/02 Backoff.opus", "Backoff", "The Idle Threads", _NIGHT, 2, 110, 2, "minor", "#3b5b92"),
        arguments=("-c:a", "libopus", "-b:a", "128k"),
    ),
    Sample(
        *(f"{_NIGHT_FOLDER}/03 Heartbeat.wav", "Heartbeat", "The Idle Threads", _NIGHT, 3, 96, 5, "major", "#3b5b92"),
        arguments=("-c:a", "pcm_s16le", "-ar", "22050"),
    ),
    Sample(
        *("Loose/Tide Table.mp3", "Tide Table", "Solveig Lund", "", 0, 140, 10, "major", "#5c8a5c"),
        arguments=("-c:a", "libmp3lame", "-q:a", "4"),
    ),
    Sample("Loose/Broken Tape.mp3", "Broken Tape", "", "", 0, 0, 0, "", ""),
)


def render(folder: Path) -> list[Sample]:
    """Write the library into the folder, the same each time; about three seconds."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda numbered: _write(folder, numbered[1], seed=numbered[0]), enumerate(SAMPLES)))
    (folder / _NIGHT_FOLDER / "cover.jpg").write_bytes(cover(_NIGHT, "The Idle Threads", "#3b5b92"))
    return list(SAMPLES)


def _write(folder: Path, sample: Sample, seed: int) -> None:
    path = folder / sample.path
    path.parent.mkdir(parents=True, exist_ok=True)
    if not sample.bpm:
        # The start of an MP3 frame, then nothing that any decoder could use.
        path.write_bytes(b"\xff\xfb\x90\x64" + bytes(range(256)) * 40)
        return
    sound = synth.piece(tonic=sample.pitch_class, mode=sample.mode, bpm=sample.bpm, seconds=sample.seconds, seed=seed)
    encode(sound, path, sample.arguments)
    _tag(path, sample)


def encode(sound: numpy.typing.NDArray[numpy.float64], path: Path, arguments: tuple[str, ...] = ()) -> None:
    """Write stereo samples at 44.1 kHz as the file that its name and the encoder's arguments ask for."""
    command = [ffmpeg(), "-hide_banner", "-v", "error", "-y", "-f", "f32le", "-ar", str(synth.RATE), "-ac", "2"]
    command += ["-i", "-", "-map_metadata", "-1", "-fflags", "+bitexact", *arguments, f"file:{path}"]
    subprocess.run(command, input=sound.astype("<f4").tobytes(), check=True)


def cover(title: str, artist: str, colour: str, size: int = 600) -> bytes:
    """A JPEG: a sun over water, with the names on it."""
    from PIL import Image, ImageColor, ImageDraw

    red, green, blue = ImageColor.getrgb(colour)[:3]
    image = Image.new("RGB", (size, size), (red // 4, green // 4, blue // 3))
    draw = ImageDraw.Draw(image)
    middle, radius = size // 2, size // 4
    draw.ellipse((middle - radius, size // 5, middle + radius, size // 5 + 2 * radius), fill=(red, green, blue))
    for row in range(6):
        y = size * 6 // 10 + row * size // 40
        draw.line((size // 10 + row * 8, y, size * 9 // 10 - row * 8, y), fill=(red, green, blue), width=3)
    draw.text((size // 10, size * 8 // 10), title, fill="white", font_size=size // 16)
    draw.text((size // 10, size * 88 // 100), artist, fill="white", font_size=size // 24)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=82)
    return out.getvalue()


def _tag(path: Path, sample: Sample) -> None:
    import mutagen
    from mutagen.flac import FLAC, Picture
    from mutagen.id3 import APIC, TALB, TIT2, TPE1, TRCK
    from mutagen.mp4 import MP4, MP4Cover

    picture = cover(sample.album or sample.title, sample.artist, sample.colour)
    match path.suffix:
        case ".mp3" | ".wav":
            file = mutagen.File(path)
            if file.tags is None:
                file.add_tags()
            file.tags.add(TIT2(encoding=3, text=sample.title))
            file.tags.add(TPE1(encoding=3, text=sample.artist))
            if sample.album:
                file.tags.add(TALB(encoding=3, text=sample.album))
                file.tags.add(TRCK(encoding=3, text=str(sample.track_no)))
            if path.suffix == ".mp3":
                file.tags.add(APIC(encoding=3, mime="image/jpeg", type=3, desc="", data=picture))
        case ".m4a":
            file = MP4(path)
            file["\xa9nam"], file["\xa9ART"], file["\xa9alb"] = [sample.title], [sample.artist], [sample.album]
            file["trkn"] = [(sample.track_no, 0)]
            file["covr"] = [MP4Cover(picture, imageformat=MP4Cover.FORMAT_JPEG)]
        case _:
            file = mutagen.File(path)
            file["title"], file["artist"], file["album"] = [sample.title], [sample.artist], [sample.album]
            file["tracknumber"] = [str(sample.track_no)]
            if isinstance(file, FLAC):
                front = Picture()
                front.type, front.mime, front.data, front.width, front.height = 3, "image/jpeg", picture, 600, 600
                file.add_picture(front)
    file.save()
