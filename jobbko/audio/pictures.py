"""Cover pictures: embedded in a music file, or lying beside it; and whether bytes are a picture that may be kept."""

from __future__ import annotations

import base64
import binascii
import io
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jobbko.audio.tags import open_file

#: Bytes and pixels: larger ones are refused before they are read or unpacked.
MOST_BYTES = 20 * 1024 * 1024
MOST_PIXELS = 40_000_000
#: What Pillow calls a format, and how we name it.
_FORMATS = {"JPEG": ("image/jpeg", ".jpg"), "PNG": ("image/png", ".png"), "WEBP": ("image/webp", ".webp")}
_FRONT = 3  # picture type "cover (front)" of ID3 and FLAC
_STEMS = (b"cover", b"folder", b"front", b"album")
_SUFFIXES = (b".jpg", b".jpeg", b".png", b".webp")
#: A folder that holds one disc of an album: its parent may hold the cover.
DISC_FOLDER = re.compile(rb"(cd|dis[ck])[ _.-]*\d{1,2}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Picture:
    """A still picture whose bytes are what they claim."""

    data: bytes
    mime: str
    suffix: str
    width: int
    height: int


def check(data: bytes) -> Picture | None:
    """The picture that these bytes are, by themselves and not by their name; None if they are none that may be kept.

    Refused: other formats, animations, damaged or truncated data, more than MOST_BYTES or MOST_PIXELS.
    """
    from PIL import Image

    if not 0 < len(data) <= MOST_BYTES:
        return None
    try:
        with Image.open(io.BytesIO(data), formats=list(_FORMATS)) as image:
            width, height = image.size
            if width * height > MOST_PIXELS or getattr(image, "is_animated", False):
                return None
            mime, suffix = _FORMATS[image.format or ""]
            image.load()  # unpacks it: a truncated one fails here
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError):
        return None
    return Picture(data, mime, suffix, width, height)


def embedded(path: bytes) -> Iterator[bytes]:
    """The pictures in a music file as stored, front covers first; none if mutagen cannot read it."""
    import mutagen

    try:
        file = open_file(path)
        found = [] if file is None else list(_stored(file))
    except (mutagen.MutagenError, ValueError, KeyError, IndexError, EOFError, OverflowError):
        return  # the scan has said of this file what is wrong with it
    for _, data in sorted(found, key=lambda picture: picture[0] != _FRONT):
        yield bytes(data)


def folders(path: bytes, root: bytes) -> tuple[bytes, bytes | None]:
    """Where a music file's album has its cover, and where its disc has one of its own if that is another folder."""
    folder = os.path.dirname(path)
    if DISC_FOLDER.fullmatch(os.path.basename(folder)) and folder != root:
        return os.path.dirname(folder), folder
    return folder, None


def disc_number(folder: bytes) -> int | None:
    """The 2 of "CD 2"."""
    found = re.search(rb"\d+", os.path.basename(folder))
    return int(found[0]) if found else None


def lying_in(folder: bytes) -> Iterator[bytes]:
    """The cover files in a folder, the likeliest first."""
    names = {name.lower(): name for name in sorted(os.listdir(folder))}
    for wanted in (stem + suffix for stem in _STEMS for suffix in _SUFFIXES):
        if wanted in names and (data := _regular(os.path.join(folder, names[wanted]))) is not None:
            yield data


def thumbnail(picture: Picture, size: int) -> bytes:
    """The same as WebP, no side longer than `size` pixels; never larger than it was."""
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(picture.data), formats=list(_FORMATS)) as image:
        upright = ImageOps.exif_transpose(image).convert("RGB")
    upright.thumbnail((size, size), Image.Resampling.LANCZOS)
    packed = io.BytesIO()
    upright.save(packed, "WEBP", quality=82)
    return packed.getvalue()


def _regular(file: bytes) -> bytes | None:
    """Its content if it is an ordinary file of sensible size; a link could lead anywhere and is not followed."""
    try:
        # NONBLOCK: opening a pipe would wait for a writer.
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as content:
            about = os.fstat(content.fileno())
            return content.read() if stat.S_ISREG(about.st_mode) and about.st_size <= MOST_BYTES else None
    except OSError:
        return None  # unreadable or a link: as good as none


def _stored(file: Any) -> Iterator[tuple[int, bytes]]:
    """(type, bytes) of each picture, format by format."""
    for picture in getattr(file, "pictures", ()):  # FLAC
        yield picture.type, picture.data
    tags = file.tags
    if tags is None:
        return
    from mutagen.apev2 import APEv2
    from mutagen.asf import ASFTags
    from mutagen.id3 import ID3
    from mutagen.mp4 import MP4Tags

    match tags:
        case ID3():
            yield from ((int(frame.type), frame.data) for frame in tags.getall("APIC"))
        case MP4Tags():
            yield from ((_FRONT, cover) for cover in tags.get("covr", ()))
        case APEv2():
            for name, value in tags.items():
                if name.lower().startswith("cover art"):
                    kind = _FRONT if "front" in name.lower() else 0
                    yield kind, bytes(value.value).partition(b"\x00")[2]  # the file's name comes first
        case ASFTags():
            yield from (_asf(bytes(value.value)) for value in tags.get("WM/Picture", ()))
        case _:
            yield from _vorbis(tags)


def _vorbis(tags: Any) -> Iterator[tuple[int, bytes]]:
    from mutagen.flac import Picture as Block
    from mutagen.flac import error as BadBlock

    for text in tags.get("metadata_block_picture", ()):
        try:
            block = Block(base64.b64decode(text))
        except (binascii.Error, BadBlock):
            continue  # one broken picture does not hide the next
        yield block.type, block.data


def _asf(value: bytes) -> tuple[int, bytes]:
    """WM/Picture: type, length of the data, then mime type and description in UTF-16, each ended by a zero."""
    kind, size = value[0], int.from_bytes(value[1:5], "little")
    return kind, value[len(value) - size :]
