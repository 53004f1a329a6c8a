"""Files that jobs are given by path: opened once, inside the folders that are allowed, and read by that descriptor.

A path in a payload is somebody else's word. The check is made on the file that is open, so that neither a link nor a
name that is exchanged a moment later leads out of the folders.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jobbko import settings
from jobbko.errors import Charged, Missing, Permanent


@dataclass(frozen=True, slots=True)
class Media:
    """path: where the file really is; size: bytes; fd: a descriptor for reading, open for the length of the block."""

    path: str
    size: int
    fd: int

    @property
    def source(self) -> str:
        """For ffmpeg's -i, with `pass_fds=(media.fd,)`: the open file, whatever stands under its name by now."""
        return f"file:/proc/self/fd/{self.fd}"


@contextlib.contextmanager
def opened(path: str, *, ours: bool = False) -> Iterator[Media]:
    """ours: a file that we wrote ourselves, wherever it lies.

    Missing if there is no such file; Permanent outside of JOBBKO_MEDIA_ROOTS; Charged("invalid") for no file.
    """
    if not os.path.isabs(path) or "\0" in path:
        raise Charged("invalid", f"{path!r} is not the whole path of a file; it must begin with /")
    try:
        # Without waiting: a named pipe would be waited for until somebody writes into it.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise Missing(f"{path} is gone") from None
    except (OSError, ValueError) as error:
        raise Charged("invalid", f"{path} cannot be read: {getattr(error, 'strerror', error)}") from error
    try:
        found = os.fstat(fd)
        real = os.readlink(f"/proc/self/fd/{fd}")
        if not ours:
            check_allowed(real, said=path)
        if not stat.S_ISREG(found.st_mode):
            raise Charged("invalid", f"{path} is no file")
        yield Media(real, found.st_size, fd)
    finally:
        os.close(fd)


def check_allowed(real: str, *, said: str) -> None:
    """Permanent unless this path, with all links resolved, lies in an allowed folder. Unset, all folders are allowed.

    said: the path as it was given, which the message names.
    """
    allowed = [*settings.MEDIA_ROOTS, *settings.MUSIC_ROOTS] if settings.MEDIA_ROOTS else []
    if allowed and not any(Path(real).is_relative_to(os.path.realpath(root)) for root in allowed):
        raise Permanent(
            f"{said} lies outside of the folders that jobs may read ({':'.join(map(str, settings.MEDIA_ROOTS))}); "
            "JOBBKO_MEDIA_ROOTS names them"
        )
