"""Bring the library up to date with what lies on disk: new, changed, moved, missing and returned files, and their tags.

Nothing is concluded from what could not be seen: an absent, empty or unreadable root, and a folder that cannot be read,
leave their tracks as they are; so does a fifth of the library vanishing at once, until somebody says that it is true.
Safe to repeat: it compares and writes differences, in short transactions, so one that was killed is simply run again.
"""

from __future__ import annotations

import itertools
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from broker import actor, cron, report
from jobbko import settings, store
from jobbko.audio import content, folders, tags
from jobbko.audio.folders import Found
from jobbko.catalogue import identity
from jobbko.store import music_rows, music_scan
from jobbko.store.music_scan import Known, Root

#: Files compared, read and written in one go.
BATCH = 500
#: Seconds between two looks at the clock while files settle: an interruption of the job is noticed as fast as that.
GLANCE = 0.1
#: More than this many tracks, and this share of them, do not vanish in one day; a disk does.
MANY, SHARE = 20, 0.2
#: Under unwanted: what lies there again although it was deleted because somebody disliked it.
COUNTS = ("seen", "new", "changed", "moved", "missing", "restored", "unchanged", "unwanted")


@actor(priority=7, dedupe=True, every_collection=True, time_limit=6 * 3600 * 1000, periodic=cron("23 2 * * *"))
def filesystem_rescan(root: str | None = None, full: bool = False) -> dict[str, Any]:
    """root: one folder, else all that are configured or known. full: read every file again, as happens once a week."""
    paths = [os.fsencode(root)] if root is not None else configured()
    reports = [scan(os.path.abspath(path), full=full, nightly=root is None) for path in paths]
    total = sum((Counter(report["counts"]) for report in reports), Counter())
    errors = [error for report in reports for error in report["errors"]]
    return {name: total[name] for name in COUNTS} | {"errors": errors[: folders.MAX_ERRORS], "roots": reports}


def configured() -> list[bytes]:
    return [os.fsencode(path) for path in settings.MUSIC_ROOTS] or music_scan.root_paths()


@dataclass
class Scan:
    """One root being scanned, and what was found so far."""

    root: Root
    id: str
    full: bool
    walk: folders.Walk
    counts: Counter[str] = field(default_factory=Counter)
    written: int = 0
    #: So many written, and the planner is told; autovacuum would get to it in a minute, and each check of a foreign key
    #: would look through the whole collection until then.
    analyze_at: int = BATCH

    @property
    def collection(self) -> str:
        return self.root.collection_node_id

    def file(self, path: bytes) -> bytes:
        return os.path.join(self.root.path, path)


def scan(path: bytes, *, full: bool, nightly: bool) -> dict[str, Any]:
    away = folders.trouble(path)
    if away is not None and music_scan.find_root(path) is None:
        return outcome(folders.readable(path), None, *away)  # a typing mistake does not make a library
    root = music_scan.root(path)
    collection, full = root.collection_node_id, full or (nightly and root.full_is_due)
    run = Scan(root, music_scan.begin_scan(collection, full=full), full, folders.Walk(path))
    state, reason = away or _walked(run)
    counts = {name: run.counts[name] for name in COUNTS}
    music_scan.end_scan(run.id, collection, state=state, reason=reason, counts=counts, full=full)
    return outcome(root.path_text, collection, state, reason, counts, run.walk.errors)


def outcome(
    path: str,
    collection: str | None,
    state: str,
    reason: str,
    counts: dict[str, int] | None = None,
    errors: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "path": path,
        "collection": collection,
        "state": state,
        "reason": reason,
        "counts": counts or dict.fromkeys(COUNTS, 0),
        "errors": errors or [],
    }


def _walked(run: Scan) -> tuple[str, str]:
    """Compare every file, then see what is missing; (state, reason) of the root."""
    before = os.stat(run.root.path)
    run.walk.known = music_scan.inventory(run.collection)
    if run.full:  # every file is another one than the one that was read
        run.walk.known = dict.fromkeys(run.walk.known, b"")
    others = iter(run.walk)
    fresh: list[Found] = []
    while batch := list(itertools.islice(others, BATCH)):
        fresh += filter(is_fresh, batch)
        compare(run, [found for found in batch if not is_fresh(found)])
        report(root=run.root.path_text, **run.counts, seen=run.walk.seen)
    for batch in settled(run, fresh):
        compare(run, batch)
        report(root=run.root.path_text, **run.counts, seen=run.walk.seen)
    run.counts.update(seen=run.walk.seen, unchanged=run.walk.unchanged)
    if (away := folders.trouble(run.root.path)) is not None:
        return away
    after = os.stat(run.root.path)
    if (before.st_dev, before.st_ino) != (after.st_dev, after.st_ino):
        return "absent", f"{run.root.path_text} was mounted or unmounted while it was scanned"
    return conclude(run)


def is_fresh(found: Found) -> bool:
    """Whether it was written to a moment ago, by this machine's clock: then it may be half of a file."""
    return abs(time.time_ns() - found.ctime_ns) < settings.SETTLE * 1e9


def settled(run: Scan, fresh: list[Found]) -> Iterator[list[Found]]:
    """Those that are still as they were when they were met, after a while; the others are left to the next scan."""
    steady_at = max((found.ctime_ns for found in fresh), default=0) + settings.SETTLE * 1e9
    while (left := steady_at - time.time_ns()) > 0:
        time.sleep(min(left / 1e9, GLANCE))
    for start in range(0, len(fresh), BATCH):
        steady = []
        for found in fresh[start : start + BATCH]:
            try:
                about = os.stat(run.file(found.path))
            except OSError as error:
                run.walk.note(found.path, error)
                continue
            if (about.st_size, about.st_mtime_ns) == (found.size, found.mtime_ns):
                steady.append(found)
            else:
                run.walk.note(found.path, OSError("it is being written; the next scan looks at it"))
        yield steady


def compare(run: Scan, batch: list[Found]) -> None:
    """Tell what each file is: known as it is, changed, renamed, moved here, or new; and write that."""
    known = music_scan.known(run.collection, [f.path for f in batch], [folders.key(f.path) for f in batch])
    at = {track.path: track for track in known}
    here = {found.path for found in batch}
    pairs = [(at.get(found.path) or identity.renamed(known, found, here, run.file), found) for found in batch]
    unread = [(old, found) for old, found in pairs if old is None or run.full or _differs(old, found)]
    contents = {found.path: content_hash(run, found) for _, found in unread}
    new = [found for old, found in unread if old is None]
    moved = identity.moved(run.collection, new, contents, run.file)
    unwanted = identity.unwanted(run.collection, new, contents)
    run.counts["unwanted"] += len(unwanted)
    # A known file that cannot be read now keeps what is known of it; a new one gets a row that says why.
    described = [
        describe(run, found, contents[found.path])
        for old, found in unread
        if found.path not in moved and found.path not in unwanted and (old is None or contents[found.path])
    ]
    read = [file for file in described if file is not None]
    fresh = {found.path for found in new}
    returned = identity.returned(run.collection, [file for file in read if file["path"] in fresh], run.file)
    became = moved | returned
    write(run, [(became.get(found.path, old), found) for old, found in pairs], read, contents)


def _differs(old: Known, found: Found) -> bool:
    """Not "newer": clocks are wrong, copies keep their times, and some taggers put the old time back."""
    return (old.size, old.mtime_ns) != (found.size, found.mtime_ns) or not old.content_hash


def content_hash(run: Scan, found: Found) -> bytes:
    """Empty if the file cannot be read, and then the next scan tries again."""
    try:
        return content.content_hash(run.file(found.path), found.size)
    except OSError as error:
        run.walk.note(found.path, error)
        return b""


def describe(run: Scan, found: Found, hashed: bytes) -> dict[str, Any] | None:
    """All that is kept of a file; None if it went away since it was listed."""
    try:
        said = tags.read(run.file(found.path))
    except FileNotFoundError:
        return None
    except OSError as error:
        name = folders.readable(os.path.splitext(os.path.basename(found.path))[0])
        said = tags.Tags(title=name, error=error.strerror or str(error))
    return said.row() | {
        "path": found.path,
        "size": found.size,
        "mtime_ns": found.mtime_ns,
        "content_hash": hashed,
    }


def write(
    run: Scan, pairs: list[tuple[Known | None, Found]], read: list[dict[str, Any]], contents: dict[bytes, bytes]
) -> None:
    """One batch, one short transaction."""
    known = [(old, found) for old, found in pairs if old is not None]
    moved = [(old, found) for old, found in known if old.path != found.path]
    touched = [
        {"id": old.id, "old_mtime_ns": old.mtime_ns, "mtime_ns": found.mtime_ns}
        for old, found in known
        if old.mtime_ns != found.mtime_ns and contents.get(found.path, b"") == old.content_hash
    ]
    with store.transaction():
        music_scan.relocate([music_rows.place(old.id, found.path, found.mtime_ns) for old, found in moved])
        music_scan.keep_features(touched)
        ids = music_scan.save(run.collection, music_rows.collect(read)) + [old.id for old, _ in known]
        music_scan.restore(ids)
    for old, _ in moved:
        run.walk.known.pop(old.path, None)  # nothing is there, and nothing is missing
    written = {file["path"] for file in read}
    run.written += len(written)
    if run.written >= run.analyze_at:
        music_scan.analyze()
        run.analyze_at = 10 * run.written
    run.counts.update(label(old, found) for old, found in pairs if old is not None or found.path in written)


def label(old: Known | None, found: Found) -> str:
    """Under which of COUNTS the file is counted."""
    if old is None:
        return "new"
    if old.path != found.path:
        return "moved"
    if old.state == "MISSING":
        return "restored"
    return "changed" if _differs(old, found) else "unchanged"


def conclude(run: Scan) -> tuple[str, str]:
    """Mark what is missing, if absence proves anything; (state, reason) of the root."""
    name, active = run.root.path_text, music_scan.active_count(run.collection)
    if run.walk.blind:
        return "unreadable", f"too much of {name} cannot be read; nothing was marked missing"
    if active and not run.counts["seen"] and not run.root.accept_missing:
        return "empty", f"no music is left in {name}, where {active} tracks were; nothing was marked missing"
    vanished = [path for path in run.walk.known if run.walk.could_see(path)]
    if len(vanished) > max(MANY, SHARE * active) and not run.root.accept_missing:
        said = f"{len(vanished)} of {active} tracks vanished from {name} at once; nothing was marked missing"
        return "vanishing", said
    for start in range(0, len(vanished), BATCH):
        tracks = music_scan.present(run.collection, vanished[start : start + BATCH])
        gone = [t.id for t in tracks if folders.is_gone(run.file(t.path)) or run.walk.ignored.covers(t.path)]
        run.counts["missing"] += music_scan.mark_missing(gone)
    return "ok", ""
