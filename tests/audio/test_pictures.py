"""Cover pictures: where they hide in each format, and what is refused."""

import base64
import io
import os
import struct
import zlib
from pathlib import Path

import pytest
from mutagen.apev2 import APEBinaryValue
from mutagen.asf import ASFByteArrayAttribute
from mutagen.flac import FLAC
from mutagen.flac import Picture as Block
from mutagen.id3 import APIC, ID3
from mutagen.mp4 import MP4, MP4Cover
from PIL import Image

from jobbko.audio import pictures
from tests import sounds


def drawn(colour: str = "red", size: tuple[int, int] = (300, 200), kind: str = "JPEG", **options) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, kind, **options)
    return out.getvalue()


FRONT, BACK = drawn("red"), drawn("blue")


@pytest.fixture(scope="module")
def tone(tmp_path_factory):
    return sounds.put(tmp_path_factory.mktemp("tone") / "tone.wav", sounds.sine(0.5))


def block(data: bytes, kind: int) -> Block:
    picture = Block()
    picture.data, picture.type, picture.mime = data, kind, "image/jpeg"
    return picture


def add_mp3(path: Path) -> None:
    tags = ID3(path)
    tags.add(APIC(encoding=3, mime="image/jpeg", type=4, desc="back", data=BACK))
    tags.add(APIC(encoding=3, mime="image/lies", type=3, desc="front", data=FRONT))
    tags.save()


def add_flac(path: Path) -> None:
    file = FLAC(path)
    file.add_picture(block(BACK, 4))
    file.add_picture(block(FRONT, 3))
    file.save()


def add_vorbis(path: Path) -> None:
    import mutagen

    file = mutagen.File(path)
    file["metadata_block_picture"] = [
        "not base64!",
        base64.b64encode(block(BACK, 4).write()).decode(),
        base64.b64encode(block(FRONT, 3).write()).decode(),
    ]
    file.save()


def add_mp4(path: Path) -> None:
    file = MP4(path)
    file["covr"] = [MP4Cover(FRONT), MP4Cover(BACK)]
    file.save()


def add_ape(path: Path) -> None:
    import mutagen

    file = mutagen.File(path)
    file["Cover Art (Back)"] = APEBinaryValue(b"back.jpg\x00" + BACK)
    file["Cover Art (Front)"] = APEBinaryValue(b"front.jpg\x00" + FRONT)
    file.save()


def add_asf(path: Path) -> None:
    import mutagen

    file = mutagen.File(path)
    names = "image/jpeg\x00\x00".encode("utf-16-le")
    file["WM/Picture"] = [
        ASFByteArrayAttribute(struct.pack("<BI", kind, len(data)) + names + data)
        for kind, data in ((4, BACK), (3, FRONT))
    ]
    file.save()


@pytest.mark.parametrize(
    ("suffix", "arguments", "add"),
    [
        ("mp3", (), add_mp3),
        ("flac", (), add_flac),
        ("ogg", ("-c:a", "libvorbis"), add_vorbis),
        ("opus", ("-c:a", "libopus"), add_vorbis),
        ("m4a", (), add_mp4),
        ("wv", ("-c:a", "wavpack"), add_ape),
        ("wma", ("-c:a", "wmav2"), add_asf),
    ],
)
def test_finds_the_front_cover_first(tone, tmp_path, suffix, arguments, add):
    path = sounds.retagged(tone, tmp_path / f"a.{suffix}", *arguments, title="x")
    assert list(pictures.embedded(os.fsencode(path))) == []

    add(path)

    assert list(pictures.embedded(os.fsencode(path))) == [FRONT, BACK]


def test_a_broken_music_file_has_no_pictures(tmp_path):
    (tmp_path / "a.mp3").write_bytes(b"ID3\x04\x00\x00\xff\xff\xff\xff" * 100)

    assert list(pictures.embedded(os.fsencode(tmp_path / "a.mp3"))) == []


# ------------------------------------------------------------------------------------- beside the file


def lying_in(folder: Path) -> list[bytes]:
    return list(pictures.lying_in(os.fsencode(folder)))


@pytest.fixture
def album(tmp_path):
    (tmp_path / "album").mkdir()
    return tmp_path / "album"


@pytest.mark.parametrize("name", ["cover.jpg", "Folder.JPG", "front.png", "ALBUM.webp", "cover.jpeg"])
def test_finds_the_cover_beside_a_track_however_its_name_is_written(album, name):
    (album / name).write_bytes(FRONT)

    assert lying_in(album) == [FRONT]


def test_cover_comes_before_folder_before_front(album):
    for number, name in enumerate(["front.jpg", "folder.jpg", "cover.png", "other.jpg"]):
        (album / name).write_bytes(b"%d" % number)

    assert lying_in(album) == [b"2", b"1", b"0"]


@pytest.mark.parametrize(
    ("path", "of_album", "of_disc"),
    [
        ("/m/album/a.mp3", "/m/album", None),
        ("/m/album/CD 2/a.mp3", "/m/album", "/m/album/CD 2"),
        ("/m/album/disc02/a.mp3", "/m/album", "/m/album/disc02"),
        ("/m/CD Box/a.mp3", "/m/CD Box", None),
        ("/cd1/a.mp3", "/cd1", None),
    ],
)
def test_a_disc_has_a_folder_within_its_albums_and_never_above_the_root(path, of_album, of_disc):
    root = b"/cd1" if path.startswith("/cd1") else b"/m"

    found = pictures.folders(path.encode(), root)

    assert found == (of_album.encode(), of_disc.encode() if of_disc else None)


def test_the_number_of_a_disc_is_in_the_name_of_its_folder():
    assert [pictures.disc_number(name) for name in (b"/m/CD 2", b"/m/disc02", b"/m/disc")] == [2, 2, None]


def test_a_small_copy_keeps_its_shape_and_is_never_larger_than_the_picture():
    small = pictures.check(pictures.thumbnail(pictures.check(drawn()), 60))
    assert (small.mime, small.width, small.height) == ("image/webp", 60, 40)

    same = pictures.check(pictures.thumbnail(pictures.check(drawn()), 1000))
    assert (same.width, same.height) == (300, 200)


def test_a_link_a_pipe_and_a_folder_are_no_pictures(album, tmp_path):
    (tmp_path / "secret.jpg").write_bytes(FRONT)
    (album / "cover.jpg").symlink_to(tmp_path / "secret.jpg")
    os.mkfifo(album / "folder.jpg")
    (album / "front.jpg").mkdir()

    assert lying_in(album) == []


# ---------------------------------------------------------------------------------------- what is kept


@pytest.mark.parametrize(
    ("kind", "mime", "suffix"),
    [("JPEG", "image/jpeg", ".jpg"), ("PNG", "image/png", ".png"), ("WEBP", "image/webp", ".webp")],
)
def test_keeps_pictures_by_what_they_are(kind, mime, suffix):
    data = drawn(kind=kind)

    assert pictures.check(data) == pictures.Picture(data, mime, suffix, 300, 200)


def bomb() -> bytes:
    """A PNG of a few hundred bytes that says it is 60,000 by 60,000."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


def animation() -> bytes:
    out, frames = io.BytesIO(), [Image.new("RGB", (9, 9), colour) for colour in ("red", "blue")]
    frames[0].save(out, "WEBP", save_all=True, append_images=frames[1:])
    return out.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>404</html>",
        b"\xff\xd8\xff",
        FRONT[: len(FRONT) // 2],
        drawn(kind="PNG")[:-30],
        drawn(kind="GIF"),
        drawn(kind="TIFF"),
        bomb(),
        animation(),
        bytes(pictures.MOST_BYTES + 1),
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    ],
    ids=["empty", "html", "three bytes", "half", "half png", "gif", "tiff", "bomb", "animation", "huge", "postscript"],
)
def test_refuses_what_it_should_not_keep(data):
    assert pictures.check(data) is None
