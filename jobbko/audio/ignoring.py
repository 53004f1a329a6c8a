"""What a library leaves out: folders with a .nomedia or an empty .ignore file, and what the lines of an .ignore match.

An .ignore file has the patterns of a .gitignore (https://git-scm.com/docs/gitignore), for its folder and those below.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jobbko.errors import UserError

if TYPE_CHECKING:
    import pathspec

NOMEDIA, IGNORE = b".nomedia", b".ignore"
#: Bytes of an .ignore file that are read.
MOST_BYTES = 64 * 1024


@dataclass
class Ignored:
    """What was met so far on the way through one root; paths are below it."""

    root: bytes
    #: Left out, with all beneath.
    paths: set[bytes] = field(default_factory=set)
    _rules: list[tuple[bytes, pathspec.GitIgnoreSpec]] = field(default_factory=list)

    def enters(self, folder: bytes, names: set[bytes]) -> bool:
        """Take up the rules that lie in this folder, which has these names in it; whether it is to be looked into.

        OSError if its .ignore cannot be read: then nothing is known about the folder.
        """
        rules = _lines(os.path.join(self.root, folder, IGNORE)) if IGNORE in names else None
        if NOMEDIA in names or rules == []:
            self.paths.add(folder)
            return False
        if rules:
            self._rules.append((folder, _spec(rules, os.path.join(self.root, folder))))
        return True

    @property
    def has_rules(self) -> bool:
        """Whether anything that was met so far leaves single files out."""
        return bool(self._rules)

    def leaves_out(self, path: bytes) -> bool:
        """Whether a rule above this file says so. Folders are looked into all the same: a line may except a file."""
        for folder, spec in self._rules:
            if folder and not path.startswith(folder + b"/"):
                continue
            if spec.match_file(os.fsdecode(path[len(folder) + 1 :] if folder else path)):
                self.paths.add(path)
                return True
        return False

    def covers(self, path: bytes) -> bool:
        """Whether it, or a folder that it lies in, was left out."""
        while path:
            if path in self.paths:
                return True
            path = os.path.dirname(path)
        return b"" in self.paths


def _lines(file: bytes) -> list[str]:
    with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as content:
        text = content.read(MOST_BYTES).decode("utf-8", "surrogateescape")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _spec(lines: list[str], folder: bytes) -> pathspec.GitIgnoreSpec:
    import pathspec

    try:
        return pathspec.GitIgnoreSpec.from_lines(lines)
    except ValueError as error:
        raise UserError(f"{os.fsdecode(folder)}/.ignore: {error}") from None
