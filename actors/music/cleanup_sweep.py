"""Take leave of what listeners dislike: after two days one notice, a day after that the file is deleted.

Without somewhere to send the notice, and until it was accepted there, nothing is deleted. Whoever takes a dislike back
before, or likes the track himself, keeps it. Safe to repeat: each step is looked at anew, under a lock, and a file that
is gone already is as good as deleted.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from datetime import UTC, datetime
from typing import Any

from broker import actor, cron
from jobbko import settings
from jobbko.audio import folders
from jobbko.clients import notify
from jobbko.store import dislikes
from jobbko.store.dislikes import Doomed, Unwanted

#: Seconds between a dislike and its notice, and between the notice and the deletion.
WARN_AFTER, DELETE_AFTER = 48 * 3600, 24 * 3600
#: What one sweep does at most: a mistake in an application must not empty a library in an hour.
MOST_WARNED, MOST_DELETED = 200, 100
#: Tracks that one notice names, and bytes that ntfy takes for one (https://docs.ntfy.sh/publish/#limitations).
NAMED, MOST_BYTES = 20, 4096


@actor(priority=5, dedupe=True, every_collection=True, periodic=cron("7 * * * *"))
def cleanup_sweep() -> dict[str, Any]:
    dislikes.settle_likes()
    # First what was due before: nothing is announced and deleted in one sweep, whatever the clock does meanwhile.
    deleted, left = delete()
    return {"deleted": deleted, "left": left, "warned": warn(), "dry_run": settings.CLEANUP_DRY_RUN}


def warn() -> list[str]:
    """Send the notices that are due, and write down each as soon as it was accepted; the paths they name."""
    if not settings.NOTIFY_URL:
        return []
    due = dislikes.to_warn(after=WARN_AFTER, limit=MOST_WARNED)
    for start in range(0, len(due), NAMED):
        batch = due[start : start + NAMED]
        if not settings.CLEANUP_DRY_RUN:
            notify.tell(notice(batch))
            dislikes.set_warned([each.id for each in batch])
    return [each.path_text for each in due]


def notice(batch: list[Unwanted]) -> str:
    """Which tracks go, when, and how to keep them; within ntfy's limit."""
    names = [" – ".join(filter(None, (each.artist_credit, each.title))) or each.path_text for each in batch]
    names = [" ".join(name.split()) for name in names]
    room = (MOST_BYTES - 200) // len(batch) - 3
    named = "; ".join(name.encode()[:room].decode(errors="ignore") for name in dict.fromkeys(names))
    number = "1 disliked track" if len(batch) == 1 else f"{len(batch)} disliked tracks"
    return f"Jobbkø: {number} will be deleted in 24 hours unless the dislike is taken back: {named}."


def delete() -> tuple[list[str], list[dict[str, str]]]:
    """(paths that are gone, paths that are not with the reason)."""
    gone, left = list[str](), list[dict[str, str]]()
    for id in dislikes.doomed(after=DELETE_AFTER, limit=MOST_DELETED):
        with dislikes.locked(id, after=DELETE_AFTER) as track:
            if track is None:
                continue
            reason = keeps(track)
            if not reason and not settings.CLEANUP_DRY_RUN:
                try:
                    dislikes.bury(track.track_id, remove(track))
                except OSError as error:
                    reason = error.strerror or str(error)
            if reason:
                dislikes.set_error(id, reason)
                left.append({"path": track.path_text, "reason": reason})
            else:
                gone.append(track.path_text)
    return gone, left


def keeps(track: Doomed) -> str:
    """Why the file must not be deleted now; "" if it may."""
    if (away := folders.trouble(track.root)) is not None:
        return away[1]
    if settings.MUSIC_ROOTS and track.root not in {os.path.abspath(os.fsencode(root)) for root in settings.MUSIC_ROOTS}:
        return f"{folders.readable(track.root)} is not among JOBBKO_MUSIC_ROOTS"
    if track.path.startswith(b"/") or b".." in track.path.split(b"/"):
        return "its path leads out of its root"
    file = os.path.join(track.root, track.path)
    # A folder on the way may be a link to elsewhere; the file itself may be one, and then the link is what goes.
    root, place = os.path.realpath(track.root), os.path.realpath(os.path.dirname(file))
    if os.path.commonpath([root, place]) != root:
        return f"its folder is a link to {folders.readable(place)}, outside its root"
    try:
        found = os.stat(file)
    except OSError:
        return "" if folders.is_gone(file) or os.path.islink(file) else "it cannot be looked at"
    if (found.st_size, found.st_mtime_ns) != (track.size, track.mtime_ns):
        return "it has changed since it was scanned; the next scan looks at it first"
    return ""


def remove(track: Doomed) -> str:
    """Delete the file, or put it into the trash folder; where it is there. One that is gone already is fine."""
    file = os.path.join(track.root, track.path)
    if settings.TRASH_DIR is None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file)
        return ""
    folder = settings.TRASH_DIR / datetime.now(UTC).strftime("%Y-%m-%d") / track.track_id
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / os.fsdecode(os.path.basename(track.path))
    with contextlib.suppress(FileNotFoundError):
        shutil.move(os.fsdecode(file), target)
        return folders.readable(os.fsencode(target))
    return ""
