"""A tag of a few kilobytes that unpacks to gigabytes: refused, so that a stranger's file cannot take the worker down.

mutagen unpacks a compressed ID3 frame whole and knows no limit (1.48). It looks the function up in its own module, so
that is where the bounded one goes; a test with a real bomb fails should that ever stop working.
"""

from __future__ import annotations

import zlib
from types import SimpleNamespace

#: Bytes that one frame may unpack to: more than any cover that would be kept.
MOST = 32 * 1024 * 1024


def inflate(data: bytes) -> bytes:
    """zlib.decompress, up to MOST bytes; zlib.error beyond, as for damaged data."""
    unpacker = zlib.decompressobj()
    unpacked = unpacker.decompress(data, MOST)
    if not unpacker.eof:
        raise zlib.error("the frame is incomplete or too large")
    return unpacked


def defuse() -> None:
    from mutagen.id3 import _frames

    vars(_frames)["zlib"] = SimpleNamespace(decompress=inflate, error=zlib.error)
