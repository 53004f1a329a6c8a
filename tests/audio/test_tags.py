"""Reading what files say about themselves, in each format as another program (ffmpeg) wrote it."""

import tracemalloc
import zlib
from pathlib import Path

import pytest
from mutagen.id3 import ID3, TALB, TPE1, TXXX, UFID

from jobbko.audio import tags
from tests import sounds

RECORDING, RELEASE = "b1a9c0e9-d987-4042-ae91-78d6a3267d69", "0f0c4e7e-1111-4222-8333-9a9a9a9a9a9a"
FORMATS = {
    "mp3": (),
    "flac": (),
    "ogg": ("-c:a", "libvorbis"),
    "opus": ("-c:a", "libopus"),
    "m4a": (),
    "wma": ("-c:a", "wmav2"),
    "wv": ("-c:a", "wavpack"),
    "aiff": ("-write_id3v2", "1"),
}


@pytest.fixture(scope="module")
def tone(tmp_path_factory):
    return sounds.put(tmp_path_factory.mktemp("tone") / "tone.wav", sounds.sine(1))


def read(path: Path) -> tags.Tags:
    return tags.read(str(path).encode())


@pytest.mark.parametrize("suffix", FORMATS)
def test_reads_names_and_numbers(tone, tmp_path, suffix):
    said = {"title": "Ærfugl", "artist": "AC/DC", "album": "Høst", "track": "3/12", "disc": "2", "date": "1999-05-04"}
    path = sounds.retagged(tone, tmp_path / f"a.{suffix}", *FORMATS[suffix], **said, genre="Jazz")

    found = read(path)

    assert (found.title, found.artists, found.album) == ("Ærfugl", ("AC/DC",), "Høst")
    assert (found.track_no, found.genre, found.year) == (3, "Jazz", 1999)
    assert found.error == ""
    assert found.duration_ms == pytest.approx(1000, abs=80)  # encoders pad


def test_keeps_several_artists_apart_only_where_the_file_does(tone, tmp_path):
    path = sounds.retagged(tone, tmp_path / "a.mp3", artist="Simon & Garfunkel / Someone")
    assert read(path).artists == ("Simon & Garfunkel / Someone",)

    id3 = ID3(path)
    id3.add(TXXX(encoding=3, desc="ARTISTS", text=["Simon & Garfunkel", "Someone"]))
    id3.save()

    found = read(path)
    assert found.artists == ("Simon & Garfunkel", "Someone")
    assert found.artist_credit == "Simon & Garfunkel / Someone"


def test_takes_the_recording_from_ufid_and_several_ids_from_one_text(tone, tmp_path):
    path = sounds.retagged(tone, tmp_path / "a.mp3", title="x")
    id3 = ID3(path)
    id3.add(UFID(owner="http://musicbrainz.org", data=RECORDING.encode()))
    id3.add(TXXX(encoding=3, desc="MusicBrainz Album Id", text=RELEASE.upper()))
    id3.add(TXXX(encoding=3, desc="MusicBrainz Artist Id", text=f"{RECORDING}/{RELEASE}"))
    id3.save(v2_version=3)

    found = read(path)

    assert (found.recording_id, found.release_id) == (RECORDING, RELEASE)
    assert found.artist_ids == (RECORDING, RELEASE)


def test_drops_what_no_text_may_contain(tone, tmp_path):
    path = sounds.retagged(tone, tmp_path / "a.mp3", title="x")
    id3 = ID3(path)
    id3.add(TALB(encoding=3, text="  A\x00 "))
    id3.add(TPE1(encoding=3, text=["", "  "]))
    id3.save()

    found = read(path)

    assert found.album == "A"
    assert found.artists == ()


def test_an_untagged_file_is_called_after_its_name(tone):
    found = read(tone)

    assert found.title == "tone"
    assert found.error == ""
    assert found.channels == 2


def test_goes_by_the_content_when_the_name_lies(tone, tmp_path):
    flac = sounds.retagged(tone, tmp_path / "a.flac", title="Really a FLAC")

    assert read(flac.rename(tmp_path / "a.mp3")).title == "Really a FLAC"


@pytest.mark.parametrize("content", [b"", b"<html>404</html>", b"\xff\xfb\x90\x64" * 3, bytes(range(256)) * 64])
@pytest.mark.parametrize("suffix", ["mp3", "flac", "m4a", "ogg", "wma", "wv", "mka", "wav"])
def test_a_broken_file_has_a_reason_and_the_name_as_title(tmp_path, suffix, content):
    path = tmp_path / f"broken.{suffix}"
    path.write_bytes(content)

    found = read(path)

    assert found.title == "broken"
    assert found.error or found.duration_ms is None or suffix in ("mp3", "wav")


def id3(*frames: bytes) -> bytes:
    """An ID3v2.4 tag; sizes are "syncsafe", seven bits to the byte (id3.org/id3v2.4.0-structure, 3.1 and 6.2)."""
    body = b"".join(frames)
    return b"ID3\x04\x00\x00" + syncsafe(len(body)) + body


def syncsafe(number: int) -> bytes:
    return bytes(number >> shift & 127 for shift in (21, 14, 7, 0))


def compressed(name: bytes, text: bytes) -> bytes:
    """Flags: compressed (0x08), with the unpacked length (0x01) before the data."""
    data = syncsafe(len(text) + 1) + zlib.compress(b"\x03" + text, 9)
    return name + syncsafe(len(data)) + b"\x00\x09" + data


@pytest.mark.slow
def test_reads_a_compressed_tag_but_does_not_unpack_gigabytes(tone, tmp_path):
    sound = sounds.put(tmp_path / "plain.mp3", sounds.sine(0.2)).read_bytes()
    path = tmp_path / "a.mp3"
    path.write_bytes(id3(compressed(b"TIT2", b"Packed"), compressed(b"TALB", bytes(200_000_000))) + sound)

    tracemalloc.start()
    found = read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert found.title == "Packed"
    assert found.album == ""
    assert peak < 100_000_000


def test_a_file_that_is_not_there_is_an_error_of_the_disk(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "gone.mp3")
