"""Difficult files: each is judged, none crashes or hangs anything, whatever it contains and is called."""

import math
import os
import random
import struct
import wave
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pytest
from mutagen.flac import FLAC, Picture

from jobbko.audio import analysis, decoding, features
from tests import sounds


def measure(path: Path | bytes) -> dict:
    return analysis.measure(os.fsencode(path))


def wav(path: Path, samples: numpy.ndarray) -> Path:
    """A float WAV by hand, since encoders refuse NaN."""
    data = samples.astype("<f4").tobytes()
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        36 + len(data),
        b"WAVE",
        b"fmt ",
        16,
        3,
        2,
        44100,
        352800,
        8,
        32,
        b"data",
        len(data),
    )
    path.write_bytes(head + data)
    return path


def quiet(path: Path) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, 44100, 0, "NONE", ""))
        file.writeframes(bytes(4 * 44100 * 5))
    return path


def poisoned(path: Path) -> Path:
    sound = sounds.music().copy()
    sound[1000:2000] = math.nan
    sound[5000] = math.inf
    return wav(path, sound)


def text(path: Path) -> Path:
    path.write_text("[playlist]\n" * 100)
    return path


def misnamed(path: Path) -> Path:
    """A FLAC that is called otherwise."""
    return sounds.put(path.with_suffix(".flac"), sounds.music()).rename(path)


def noise(path: Path) -> Path:
    path.write_bytes(random.Random(3).randbytes(50_000))
    return path


def headless(path: Path) -> Path:
    """The header of a FLAC and none of its sound."""
    sounds.put(path, sounds.sine(4))
    path.write_bytes(path.read_bytes()[:90])
    return path


#: name: (how to make it, status or None for one of two, partial or None where it does not matter). Those marked killed
#: essentia's own loader or made it hang when it opened the file itself.
CORPUS = {
    "opus.opus": (lambda p: sounds.put(p, sounds.music(), "-c:a", "libopus"), "ok", False),  # killed it
    "damaged.mp3": (lambda p: sounds.damaged(sounds.put(p, sounds.music())), "ok", True),  # killed it
    "half zero.flac": (lambda p: sounds.half_zeroed(sounds.put(p, sounds.music())), "ok", True),  # hung for a minute
    "poisoned.wav": (poisoned, "ok", False),  # hung for ever
    "surround.flac": (lambda p: sounds.put(p, sounds.music(), "-ac", "6"), "ok", False),
    "96 kHz.flac": (lambda p: sounds.put(p, sounds.music(), "-ar", "96000"), "ok", False),
    "alac.m4a": (lambda p: sounds.put(p, sounds.music(), "-c:a", "alac"), "ok", False),
    "misnamed.mp3": (misnamed, "ok", False),
    "infinite.wav": (lambda p: wav(p, numpy.full((5 * 44100, 2), math.inf)), "silent", False),
    "noise.mp3": (noise, None, None),  # now and then chance makes a frame
    "constant.wav": (lambda p: wav(p, numpy.full((5 * 44100, 2), 0.5)), "silent", False),
    "silence.wav": (quiet, "silent", False),
    "half a second.mp3": (lambda p: sounds.put(p, sounds.sine(0.5)), "too_short", None),
    "header only.flac": (headless, "undecodable", None),
    "truncated.m4a": (lambda p: sounds.truncated(sounds.put(p, sounds.music()), 0.5), "undecodable", None),
    "text.mp3": (text, "undecodable", None),
    "empty.ogg": (lambda p: p.touch() or p, "undecodable", None),
}
#: Names that shells, ffmpeg's protocols and text encodings stumble over.
NAMES = (
    *(b"-x.mp3", b"a:b.mp3", b"with 'quotes' and \"more\".mp3", b"http:x.mp3", b"%d.mp3", b"caf\xe9.mp3"),
    *("🎵 ñ.mp3".encode(), "Ágætis.mp3".encode(), b"A\xcc\x81g.mp3", b"new\nline.mp3"),
)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory) -> dict[str, dict]:
    folder = tmp_path_factory.mktemp("corpus")
    paths = {name: make(folder / name) for name, (make, *_) in CORPUS.items()}
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(paths, pool.map(measure, paths.values()), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", CORPUS)
def test_a_difficult_file_is_judged(verdicts, name):
    _, status, partial = CORPUS[name]

    found = verdicts[name]

    assert found["status"] == status or (status is None and found["status"] in ("undecodable", "too_short")), found
    assert partial is None or found["partial"] is partial
    assert found["reason"] or status == "ok"
    assert status != "ok" or len(found["embedding"]) == 56


@pytest.mark.slow
def test_poison_is_silenced_and_the_rest_measured(verdicts):
    found = verdicts["poisoned.wav"]

    assert found["non_finite"] is True
    assert features.tempo_distance(found["bpm"], 120) < 0.04


@pytest.mark.slow
def test_opus_is_measured_like_the_original(verdicts):
    assert features.tempo_distance(verdicts["opus.opus"]["bpm"], 120) < 0.04
    assert verdicts["opus.opus"]["key_name"] == "A minor"


@pytest.mark.slow
def test_the_same_sound_in_another_container_has_the_same_fingerprint_and_vector(verdicts):
    one, other = verdicts["misnamed.mp3"], verdicts["alac.m4a"]

    assert one["fingerprint"] == other["fingerprint"]
    assert one["fingerprint"].startswith("AQ")  # the algorithm that AcoustID takes
    assert math.dist(one["embedding"], other["embedding"]) < 0.01


def test_a_long_file_is_decoded_up_to_the_cap(tmp_path, monkeypatch):
    """music-assistant#969: the memory for eleven hours of MP3."""
    path = sounds.put(tmp_path / "long.flac", sounds.sine(8))
    monkeypatch.setattr(decoding, "LONGEST", 5)

    decoded = decoding.decode(os.fsencode(path))

    assert (decoded.seconds, decoded.promised_seconds) == (5, 5)


def test_a_large_cover_does_not_stand_before_the_sound(tmp_path):
    """AudioMuse-AI#885: a sound FLAC that other decoders gave up."""
    path = sounds.put(tmp_path / "a.flac", sounds.sine(4))
    flac, picture = FLAC(path), Picture()
    picture.type, picture.mime, picture.data = 3, "image/jpeg", bytes(15_000_000)
    flac.add_picture(picture)
    flac.save()

    decoded = decoding.decode(os.fsencode(path))

    assert (round(decoded.seconds, 2), decoded.failed) == (4, False)


@pytest.mark.slow
def test_no_name_is_too_strange(tmp_path):
    """Short files, so that the verdict proves that the sound was decoded and nothing else happens."""
    short = sounds.put(tmp_path / "short.mp3", sounds.sine(1)).read_bytes()
    paths = [os.path.join(os.fsencode(tmp_path), name) for name in NAMES]
    for path in paths:
        with open(path, "wb") as file:
            file.write(short)

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(measure, paths))

    assert {one["status"] for one in found} == {"too_short"}


def test_says_unavailable_where_the_engine_is_not_installed(tmp_path, monkeypatch):
    path = sounds.put(tmp_path / "a.flac", sounds.sine(4))
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    # What a machine without the package looks like to the child: importing it finds nothing.
    (hidden / "sitecustomize.py").write_text("import sys\nsys.modules['essentia'] = None\n")
    given = analysis._environment()
    without = given | {"PYTHONPATH": f"{hidden}:{given['PYTHONPATH']}"}
    monkeypatch.setattr(analysis, "_environment", lambda: without)

    found = measure(path)

    assert found["status"] == "unavailable"
    assert found["lufs"] == pytest.approx(-20, abs=0.3)  # ffmpeg measures that by itself
