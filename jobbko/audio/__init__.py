"""Sound files: finding, reading tags and pictures, decoding and measuring. Knows no job and no table."""

from __future__ import annotations

import importlib.util

#: Who measures, and by which edition of the recipe: decoding, gates, algorithms, formulas. Raise it when any changes.
ANALYZER = "essentia"
VERSION = 2

_SUFFIXES = (
    *(b".mp3", b".flac", b".ogg", b".oga", b".opus", b".spx", b".m4a", b".m4b", b".mp4", b".aac", b".ac3"),
    *(b".wav", b".aif", b".aiff", b".aifc", b".wma", b".asf", b".wv", b".ape", b".mpc", b".mka", b".tta", b".dsf"),
)


def is_audio(name: bytes) -> bool:
    """Whether a file of that name is taken for music; what is in it shows later."""
    return name.lower().endswith(_SUFFIXES)


def available() -> bool:
    """Whether the engine is installed; it has no package for every machine (none for ARM)."""
    return importlib.util.find_spec("essentia") is not None
