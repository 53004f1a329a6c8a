"""Files as a scan describes them become rows: which spellings are one artist, which files one album.

Two artists of one name in one library are one here; the ids that MusicBrainz gives them can tell them apart later.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

VARIOUS = "Various Artists"
_DISC_FOLDER = re.compile(r"(cd|dis[ck])[ _.-]*\d{1,2}", re.IGNORECASE)
_TRACK = (
    *(
        "title",
        "titled",
        "artist_credit",
        "track_no",
        "track_total",
        "disc_no",
        "genre",
        "release_date",
        "year",
        "isrc",
    ),
    *("duration_ms", "codec", "sample_rate", "channels", "bitrate"),
)


@dataclass(frozen=True, slots=True)
class Rows:
    """What one batch of files writes, each row once: artists and albums by key, tracks and their credits by path."""

    artists: dict[str, dict[str, Any]] = field(default_factory=dict)
    albums: dict[str, dict[str, Any]] = field(default_factory=dict)
    tracks: dict[bytes, dict[str, Any]] = field(default_factory=dict)
    credited: dict[bytes, list[dict[str, Any]]] = field(default_factory=dict)


def collect(files: Iterable[Mapping[str, Any]]) -> Rows:
    """files: path, size, mtime_ns, content_hash and the fields of tags, as jobbko.audio.tags names them."""
    rows = Rows()
    for file in files:
        credited = list(_artists(rows, file))
        album = _album(rows, file)
        rows.credited[file["path"]] = credited
        rows.tracks[file["path"]] = {
            **place(None, file["path"], file["mtime_ns"]),
            **{name: file[name] for name in _TRACK},
            "size": file["size"],
            "content_hash": file["content_hash"].hex(),
            "album_key": album,
            "bpm_tag": file["bpm"],
            "key_tag": file["key"],
            "mb_recording_id": file["recording_id"],
            "mb_release_track_id": file["release_track_id"],
            "tag_error": file["error"],
        }
    return rows


def place(track_id: str | None, path: bytes, mtime_ns: int) -> dict[str, Any]:
    """Where a track lies, in the columns that say so."""
    text = path.decode("utf-8", "backslashreplace")
    composed = unicodedata.normalize("NFC", text)
    return {"id": track_id, "path": path.hex(), "path_text": text, "path_key": composed, "mtime_ns": mtime_ns}


def plain(name: str) -> str:
    """What two spellings of a name have in common: no case, no double spaces, one way of composing letters."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _artists(rows: Rows, file: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    names, ids = file["artists"], file["artist_ids"]
    paired = ids if len(ids) == len(names) else [None] * len(names)
    seen = set[str]()
    for name, mbid in zip(names, paired, strict=True):
        key = _artist(rows, name, mbid, file["artist_sort"] if len(names) == 1 else "")
        if key not in seen:
            seen.add(key)
            yield {"position": len(seen), "artist_key": key, "credited_as": name}


def _artist(rows: Rows, name: str, mbid: str | None = None, sort_name: str = "") -> str:
    key = f"name:{plain(name)}"
    row = rows.artists.setdefault(key, {"artist_key": key, "name": name, "sort_name": "", "mb_artist_id": None})
    row["mb_artist_id"] = row["mb_artist_id"] or mbid
    row["sort_name"] = row["sort_name"] or sort_name
    return key


def _album(rows: Rows, file: Mapping[str, Any]) -> str | None:
    """The album's key. A compilation without an album artist is held together by its folder, not by its artists."""
    title = file["album"]
    if not title:
        return None
    artist = file["album_artist"] or (VARIOUS if file["compilation"] else "")
    if file["release_id"]:
        key = f"release:{file['release_id']}"
    elif artist:
        key = f"artist:{plain(artist)}/{plain(title)}"
    else:
        key = f"folder:{_folder(file['path'])}/{plain(title)}"
    # The artist of one track is that of the album only as long as no other track disagrees.
    credit = artist or file["artist_credit"]
    if not artist and key in rows.albums and plain(rows.albums[key]["artist_credit"]) != plain(credit):
        credit = VARIOUS
    rows.albums[key] = {
        "album_key": key,
        "title": title,
        "artist_key": _artist(rows, credit) if credit else None,
        "artist_credit": credit,
        "compilation": file["compilation"] or credit == VARIOUS,
        "release_date": file["release_date"],
        "year": file["year"],
        "disc_total": file["disc_total"],
        "mb_release_id": file["release_id"],
        "mb_release_group_id": file["release_group_id"],
    }
    return key


def _folder(path: bytes) -> str:
    folder = os.path.dirname(path).decode("utf-8", "backslashreplace")
    if _DISC_FOLDER.fullmatch(os.path.basename(folder)):
        folder = os.path.dirname(folder)
    return unicodedata.normalize("NFC", folder)
