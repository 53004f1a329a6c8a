"""Making files that only look like music, scanning them, and reading what the scan wrote."""

import os
import uuid
from pathlib import Path

from mutagen.flac import FLAC

from actors.music.filesystem_rescan import COUNTS, filesystem_rescan
from jobbko import audio, store
from jobbko.store import music, music_scan


def put(root: Path, path: str | bytes, content: bytes | None = None) -> None:
    file = os.path.join(os.fsencode(root), os.fsencode(path))
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "wb") as out:
        out.write(content or uuid.uuid4().bytes * 100)


def song(root: Path, path: str, seconds: float = 200, **tags: str | list[str]) -> Path:
    """A FLAC that is its header alone: it says how long it is, and what its tags are to say."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    # https://www.rfc-editor.org/rfc/rfc9639#section-8.2: block sizes, frame sizes, rate, channels, bits, samples, MD5
    packed = 44100 << 44 | 1 << 41 | 15 << 36 | round(seconds * 44100)
    about = (4096).to_bytes(2) * 2 + bytes(6) + packed.to_bytes(8) + uuid.uuid4().bytes
    file.write_bytes(b"fLaC" + bytes([0x80, 0, 0, len(about)]) + about)
    flac = FLAC(file)
    for name, value in tags.items():
        flac[name] = value
    flac.save()
    return file


def rescan(root: Path, **options) -> dict:
    return filesystem_rescan(root=str(root), **options)


def counted(result: dict) -> dict[str, int]:
    """What is not zero, without the number of files."""
    return {name: result[name] for name in COUNTS if result[name] and name != "seen"}


def collection(root: Path) -> str:
    return music_scan.root(root).collection_node_id


def states(root: Path) -> dict[str, str]:
    rows = store.rows(
        "select path_text, state from tracks where collection_node_id = %(id)s order by path", id=collection(root)
    )
    return dict(rows)


def measured(track: music.Track) -> None:
    """As if the analysis had run."""
    music.set_features(
        track.id,
        analyzer=audio.ANALYZER,
        version=audio.VERSION,
        size=track.size,
        mtime_ns=track.mtime_ns,
        measured={"status": "ok", "bpm": 120},
    )
