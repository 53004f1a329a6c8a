"""Walk a music folder: every audio file once, and which parts could not be looked at.

Names are bytes throughout: a file system promises no encoding. What cannot be read is *unknown*, which is something
else than gone; whoever compares must leave alone what lies there.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from jobbko.audio import is_audio
from jobbko.audio.ignoring import Ignored
from jobbko.errors import Missing, Throttled

#: Folders and files that file servers, desktops and Macs leave lying about.
IGNORED = frozenset(
    {b"@eadir", b"#recycle", b"#snapshot", b"lost+found", b"$recycle.bin", b"system volume information"}
)
#: How many errors are kept word by word, and how many unreadable places are told apart.
MAX_ERRORS = 50
MAX_UNKNOWN = 1000
#: A file's stamp: size and time in 16 bytes.
_STAMP = struct.Struct(">qq")


@dataclass(frozen=True, slots=True)
class Found:
    """An audio file: its path below the root, and how it was when it was met."""

    path: bytes
    size: int  # bytes
    mtime_ns: int
    ctime_ns: int = 0  # when anything about it was last written, which no copying tool puts back


@dataclass
class Walk:
    """One pass over a root. Iterate it first; then `unknown`, `blind` and `errors` tell what it could not see."""

    root: bytes
    #: Stamps of known files by path; those met are taken out, and a file that is as it was is only counted.
    known: dict[bytes, bytes] = field(default_factory=dict)
    seen: int = 0
    unchanged: int = 0
    unknown: list[bytes] = field(default_factory=list)
    #: Too much was unreadable to list: nothing may be concluded from absence.
    blind: bool = False
    errors: list[str] = field(default_factory=list)
    error_count: int = 0

    def __post_init__(self) -> None:
        self.ignored = Ignored(self.root)

    def __iter__(self) -> Iterator[Found]:
        """Real folders first, linked ones after them, each folder once: a link back up is a loop, not a library."""
        visited: set[tuple[int, int]] = set()
        folders, links = [b""], list[bytes]()
        while folders or links:
            folder = folders.pop() if folders else links.pop(0)
            try:
                about = os.stat(os.path.join(self.root, folder))
                if (about.st_dev, about.st_ino) in visited:
                    continue
                visited.add((about.st_dev, about.st_ino))
                yield from self._folder(folder, folders, links)
            except OSError as error:
                self.note(folder, error)

    def _folder(self, folder: bytes, folders: list[bytes], links: list[bytes]) -> Iterator[Found]:
        with os.scandir(os.path.join(self.root, folder)) as listing:
            entries = list(listing)
        if not self.ignored.enters(folder, {entry.name for entry in entries}):
            return
        above, known, left_out = folder + b"/" if folder else b"", self.known, self.ignored.leaves_out
        for entry in self._changed(above, entries):
            name = entry.name
            if is_ignored(name):
                continue
            path = above + name
            try:
                if entry.is_symlink():
                    self._follow(path, entry, links)
                elif entry.is_dir():
                    folders.append(path)
                    continue
                if not is_audio(name) or left_out(path):
                    continue
                about = entry.stat()
                # A pipe or a device would block whoever opens it.
                if not stat.S_ISREG(about.st_mode):
                    continue
                self.seen += 1
                if known.pop(path, None) == _STAMP.pack(about.st_size, about.st_mtime_ns):
                    self.unchanged += 1
                else:
                    yield Found(path, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
            except OSError as error:
                self.note(path, error)

    def _changed(self, above: bytes, entries: list[os.DirEntry[bytes]]) -> list[os.DirEntry[bytes]]:
        """All but the known files that are as they were; for those this takes little more than asking the disk."""
        known, regular, pack, left = self.known, stat.S_ISREG, _STAMP.pack, []
        if not known or self.ignored.has_rules:
            return entries
        for entry in entries:
            path = above + entry.name
            try:
                if stamp := known.get(path):
                    about = entry.stat()
                    if regular(about.st_mode) and stamp == pack(about.st_size, about.st_mtime_ns):
                        del known[path]
                        continue
            except OSError:
                pass  # it is asked again, and noted
            left.append(entry)
        self.seen += len(entries) - len(left)
        self.unchanged += len(entries) - len(left)
        return left

    def _follow(self, path: bytes, entry: os.DirEntry[bytes], links: list[bytes]) -> None:
        """A link to a folder is walked later; one to nothing, or to an empty folder, is a disk that is not there."""
        if stat.S_ISDIR(entry.stat().st_mode):
            if (away := trouble(os.path.join(self.root, path))) is not None:
                raise OSError(errno.ENOTCONN, away[0])
            links.append(path)

    def note(self, path: bytes, error: OSError) -> None:
        """That path could not be looked at."""
        self.error_count += 1
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(f"{readable(path) or '.'}: {error.strerror or error}")
        if len(self.unknown) < MAX_UNKNOWN:
            self.unknown.append(path)
        if len(self.unknown) == MAX_UNKNOWN or not path:
            self.blind = True

    def could_see(self, path: bytes) -> bool:
        """Whether neither it nor a folder above it was unknown."""
        unknown = set(self.unknown)
        while path and path not in unknown:
            path = os.path.dirname(path)
        return not path


def is_ignored(name: bytes) -> bool:
    """Hidden files (AppleDouble's ._x, .AppleDouble, .Trash-1000 among them) and the wells of file servers."""
    return name.startswith(b".") or name.lower() in IGNORED


def trouble(root: bytes) -> tuple[str, str] | None:
    """Why nothing may be concluded from this root: (absent | unreadable | empty, a sentence); None if all is well."""
    name = readable(root)
    try:
        with os.scandir(root) as entries:
            if next(entries, None) is None:
                return "empty", f"{name} is empty; if its disk is not mounted, mount it"
    except FileNotFoundError:
        return "absent", f"{name} does not exist; if its disk is not mounted, mount it"
    except NotADirectoryError:
        return "absent", f"{name} is not a folder"
    except OSError as error:
        return "unreadable", f"{name} cannot be read: {error.strerror or error}"
    return None


def is_gone(path: bytes) -> bool:
    """Whether there is certainly nothing of that name; a folder that cannot be read proves nothing."""
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno in (errno.ENOENT, errno.ENOTDIR)
    return False


def is_same_file(old: bytes, new: bytes) -> bool:
    """Whether both names are one entry: where a file system does not tell A from a, a renamed file has both."""
    try:
        one, other = os.lstat(old), os.lstat(new)
    except OSError:
        return False
    return one.st_nlink == 1 and (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def look(root: bytes, path: bytes, library: str) -> os.stat_result:
    """The file as it is now. Missing if it is gone; Throttled while its root, or the way to it, is away: that may end.

    library: how the root is called among the things that a job may have to wait for.
    """
    if path.startswith(b"/") or b".." in path.split(b"/"):
        raise Missing(f"{readable(path)} is not below its root")
    file = os.path.join(root, path)
    try:
        found = os.stat(file)
        if not stat.S_ISREG(found.st_mode):
            raise Missing(f"{readable(path)} is no file")
        return found
    except OSError as error:
        if (away := trouble(root)) is not None:
            raise Throttled(library, message=away[1]) from error
        if is_gone(file):
            raise Missing(f"{readable(path)} is gone") from error
        raise Throttled(library, message=f"{readable(path)}: {error.strerror}") from error


def readable(path: bytes) -> str:
    """For people: bytes that are not UTF-8 show as \\xNN."""
    return path.decode("utf-8", "backslashreplace")


def key(path: bytes) -> str:
    """The same for every way of composing its letters: Macs write é as e and an accent."""
    return unicodedata.normalize("NFC", readable(path))
