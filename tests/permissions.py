"""Make permissions count for a test that runs as root, as they do for everybody else."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator

#: The right to read and search whatever the mode says: CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, capabilities(7).
_OVERRIDE = 0b110
_VERSION = 0x20080522


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@contextlib.contextmanager
def enforced() -> Iterator[None]:
    """This thread may only read what modes allow."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, data = _Header(_VERSION, 0), (_Data * 2)()
    assert libc.capget(ctypes.byref(header), data) == 0, os.strerror(ctypes.get_errno())
    before = data[0].effective
    data[0].effective &= ~_OVERRIDE
    assert libc.capset(ctypes.byref(header), data) == 0, os.strerror(ctypes.get_errno())
    try:
        yield
    finally:
        data[0].effective = before
        libc.capset(ctypes.byref(header), data)


@contextlib.contextmanager
def unreadable(path: os.PathLike[str]) -> Iterator[None]:
    """Nobody may read it, not even we."""
    mode = os.stat(path).st_mode
    os.chmod(path, 0)
    try:
        with enforced():
            yield
    finally:
        os.chmod(path, mode)
