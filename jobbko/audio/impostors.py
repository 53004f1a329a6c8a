"""What a file is that is called like music and holds none: nothing at all, a web page, a text."""

from __future__ import annotations

import codecs
import os

#: Bytes that are looked at.
_GLANCE = 1024
_PAGES = (b"<!doctype html", b"<html", b"<head", b"<body")


def told(path: bytes) -> str:
    """In a few words, for a person; empty if it cannot be told cheaply. Asked only after nothing could be decoded."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC), "rb") as file:
            begin = file.read(_GLANCE)
    except OSError:
        return ""
    if not begin:
        return "empty file"
    if not begin.strip(b"\0"):
        return "not audio (begins with zeros)"
    if begin.removeprefix(codecs.BOM_UTF8).lstrip().lower().startswith(_PAGES):
        return "not audio (looks like HTML)"
    return "not audio (looks like text)" if _is_text(begin) else ""


def _is_text(begin: bytes) -> bool:
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(begin)  # the last letter may be cut in two
    except UnicodeDecodeError:
        return False
    return all(letter.isprintable() or letter.isspace() for letter in text)
