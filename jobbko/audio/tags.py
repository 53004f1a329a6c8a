"""What a music file says about itself: title, artists, album, numbers, MusicBrainz ids. Read by mutagen."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from jobbko.audio import bombs, impostors
from jobbko.audio.folders import readable

#: field: (ID3 frame, Vorbis comment, MP4 atom, APEv2 item, ASF attribute)
_NAMES = {
    "title": ("TIT2", "title", "\xa9nam", "Title", "Title"),
    "artist": ("TPE1", "artist", "\xa9ART", "Artist", "Author"),
    "artists": ("TXXX:ARTISTS", "artists", "ARTISTS", "Artists", "WM/ARTISTS"),
    "album_artist": ("TPE2", "albumartist", "aART", "Album Artist", "WM/AlbumArtist"),
    "album": ("TALB", "album", "\xa9alb", "Album", "WM/AlbumTitle"),
    "track": ("TRCK", "tracknumber", "trkn", "Track", "WM/TrackNumber"),
    "track_total": ("", "tracktotal", "", "", ""),
    "disc": ("TPOS", "discnumber", "disk", "Disc", "WM/PartOfSet"),
    "disc_total": ("", "disctotal", "", "", ""),
    "date": ("TDRC", "date", "\xa9day", "Year|Date", "WM/Year|date"),
    "genre": ("TCON", "genre", "\xa9gen", "Genre", "WM/Genre"),
    "isrc": ("TSRC", "isrc", "ISRC", "ISRC", "WM/ISRC"),
    "bpm": ("TBPM", "bpm", "tmpo", "BPM", "WM/BeatsPerMinute"),
    "key": ("TKEY", "initialkey", "initialkey", "KEY", "WM/InitialKey"),
    "compilation": ("TCMP", "compilation", "cpil", "Compilation", "WM/IsCompilation"),
    "artist_sort": ("TSOP", "artistsort", "soar", "ArtistSort", "WM/ArtistSortOrder"),
    # The tag that everyone calls "track id" holds the recording's id; in ID3 it is the UFID frame.
    "recording": ("UFID", "musicbrainz_trackid", "MusicBrainz Track Id", "MUSICBRAINZ_TRACKID", "MusicBrainz/Track Id"),
    "release_track": (
        *("TXXX:MusicBrainz Release Track Id", "musicbrainz_releasetrackid", "MusicBrainz Release Track Id"),
        *("MUSICBRAINZ_RELEASETRACKID", "MusicBrainz/Release Track Id"),
    ),
    "release": (
        *("TXXX:MusicBrainz Album Id", "musicbrainz_albumid", "MusicBrainz Album Id"),
        *("MUSICBRAINZ_ALBUMID", "MusicBrainz/Album Id"),
    ),
    "release_group": (
        *("TXXX:MusicBrainz Release Group Id", "musicbrainz_releasegroupid", "MusicBrainz Release Group Id"),
        *("MUSICBRAINZ_RELEASEGROUPID", "MusicBrainz/Release Group Id"),
    ),
    "artist_id": (
        *("TXXX:MusicBrainz Artist Id", "musicbrainz_artistid", "MusicBrainz Artist Id"),
        *("MUSICBRAINZ_ARTISTID", "MusicBrainz/Artist Id"),
    ),
}
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
#: Longest text that is kept of one tag, in characters.
_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class Tags:
    """What the file says, or in `error` why it says nothing; the title is then its name."""

    title: str
    titled: bool = False  # by a tag
    artists: tuple[str, ...] = ()
    artist_credit: str = ""
    artist_sort: str = ""
    artist_ids: tuple[str, ...] = ()
    album: str = ""
    album_artist: str = ""
    compilation: bool = False
    track_no: int | None = None
    track_total: int | None = None
    disc_no: int | None = None
    disc_total: int | None = None
    genre: str = ""
    release_date: str = ""
    year: int | None = None
    isrc: str = ""
    bpm: float | None = None
    key: str = ""
    recording_id: str | None = None
    release_track_id: str | None = None
    release_id: str | None = None
    release_group_id: str | None = None
    duration_ms: int | None = None
    codec: str = ""
    sample_rate: int | None = None
    channels: int | None = None
    bitrate: int | None = None
    error: str = field(default="", compare=False)


def read(path: bytes) -> Tags:
    """The tags of the file. Never fails because of what is in it; OSError if it cannot be read at all."""
    name = readable(os.path.splitext(os.path.basename(path))[0])
    try:
        file = open_file(path)
        if file is None:
            return Tags(title=name, error=impostors.told(path) or "no tag format that is known here")
        return _tags(file, name)
    except OSError:
        raise
    except Exception as error:  # a stranger's file may break the parser in any way; the row says which
        return Tags(title=name, error=impostors.told(path) or f"{type(error).__name__}: {error}"[:_LONGEST])


def open_file(path: bytes) -> Any:
    """mutagen's view of it, by its content if its name lies; None if no format fits. An untagged one is falsy."""
    import mutagen

    bombs.defuse()
    try:
        return mutagen.File(path)
    except mutagen.MutagenError as error:
        if isinstance(error.__cause__ or error.__context__, OSError):
            raise (error.__cause__ or error.__context__) from None  # type: ignore[misc]
        # A FLAC called .mp3 is refused by the format that its name promises; an open file has no name.
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC), "rb") as content:
            if (file := mutagen.File(content)) is None:
                raise
            return file


def _tags(file: Any, name: str) -> Tags:
    said = _reader(file.tags)
    track, disc = _numbers(said("track")), _numbers(said("disc"))
    credit = _first(said("artist"))
    artists = said("artists") or said("artist")
    date = _first(said("date"))
    year = re.match(r"\d{4}", date)
    return Tags(
        title=_first(said("title")) or name,
        titled=bool(said("title")),
        artists=tuple(dict.fromkeys(artists)),
        artist_credit=", ".join(said("artist")) if len(said("artist")) > 1 else credit,
        artist_sort=_first(said("artist_sort")),
        artist_ids=_uuids(said("artist_id")),
        album=_first(said("album")),
        album_artist=_first(said("album_artist")),
        compilation=_first(said("compilation")).lower() in ("1", "true", "yes"),
        track_no=track[0],
        track_total=track[1] or _numbers(said("track_total"))[0],
        disc_no=disc[0],
        disc_total=disc[1] or _numbers(said("disc_total"))[0],
        genre=_first(said("genre")),
        release_date=date[:10],
        year=int(year[0]) if year else None,
        isrc=_first(said("isrc"))[:20],
        bpm=_tempo(_first(said("bpm"))),
        key=_first(said("key"))[:20],
        recording_id=_uuid(said("recording")),
        release_track_id=_uuid(said("release_track")),
        release_id=_uuid(said("release")),
        release_group_id=_uuid(said("release_group")),
        **_sound(file),
    )


def _sound(file: Any) -> dict[str, Any]:
    info = file.info
    seconds = getattr(info, "length", None)
    return {
        "duration_ms": round(seconds * 1000) if seconds and math.isfinite(seconds) and seconds > 0 else None,
        "codec": str(getattr(info, "codec", "") or type(file).__name__).lower(),
        "sample_rate": _count(getattr(info, "sample_rate", None)),
        "channels": _count(getattr(info, "channels", None)),
        "bitrate": _count(getattr(info, "bitrate", None)),
    }


def _reader(tags: Any) -> Callable[[str], list[str]]:
    """A function from one of our field names to the texts under its name in that format."""
    if tags is None:
        return lambda field: []
    from mutagen.apev2 import APEv2
    from mutagen.asf import ASFTags
    from mutagen.id3 import ID3
    from mutagen.mp4 import MP4Tags

    match tags:
        case ID3():
            return lambda field: _texts(_id3(tags, _NAMES[field][0]))
        case MP4Tags():
            return lambda field: _texts(_mp4(tags, _NAMES[field][2]))
        case APEv2():
            return lambda field: _texts(_either(tags, _NAMES[field][3]))
        case ASFTags():
            return lambda field: _texts(_either(tags, _NAMES[field][4]))
        case _:
            return lambda field: _texts(tags.get(_NAMES[field][1], ()))


def _either(tags: Any, names: str) -> Sequence[Any]:
    return next((tags[name] for name in names.split("|") if name in tags), ()) if names else ()


def _id3(tags: Any, name: str) -> Sequence[Any]:
    if name == "UFID":
        return [frame.data for frame in tags.getall("UFID:http://musicbrainz.org")]
    if name.startswith("TXXX:"):
        wanted = name.lower()
        return [text for key, frame in tags.items() if key.lower() == wanted for text in frame.text]
    return [text for frame in tags.getall(name) for text in frame.text] if name else []


def _mp4(tags: Any, name: str) -> Sequence[Any]:
    found = tags.get(name) or tags.get(f"----:com.apple.iTunes:{name}") or ()
    if isinstance(found, bool | int):
        return [int(found)]
    # Numbers come as pairs: (track, total), where 0 means none.
    return ["/".join(map(str, item)) if isinstance(item, tuple) else item for item in found]


def _texts(found: Any) -> list[str]:
    texts = (bytes(item).decode("utf-8", "replace") if isinstance(item, bytes) else str(item) for item in found)
    parts = (part.strip()[:_LONGEST] for text in texts for part in text.split("\x00"))
    return [part for part in parts if part]


def _first(texts: list[str]) -> str:
    return texts[0] if texts else ""


def _numbers(texts: list[str]) -> tuple[int | None, int | None]:
    """The 3 and the 12 of "3/12"; zero means nothing."""
    found = re.match(r"\s*(\d{1,6})?(?:\s*/\s*(\d{1,6}))?", _first(texts))
    first, second = found.groups() if found else (None, None)
    return (int(first) or None) if first else None, (int(second) or None) if second else None


def _tempo(text: str) -> float | None:
    found = re.match(r"\d{2,3}(\.\d+)?", text)
    return float(found[0]) if found else None


def _uuids(texts: list[str]) -> tuple[str, ...]:
    """All ids in them: ID3 2.3 writes several into one text."""
    return tuple(dict.fromkeys(_UUID.findall(" ".join(texts).lower())))


def _uuid(texts: list[str]) -> str | None:
    return next(iter(_uuids(texts)), None)


def _count(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and 0 < value < 2**31 else None
