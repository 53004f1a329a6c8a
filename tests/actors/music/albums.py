"""An album in a folder, to be looked up, and what became of its rows."""

from pathlib import Path

from actors.music.metadata_refresh import metadata_refresh
from jobbko import store
from jobbko.store import music
from tests.actors.music.scanning import collection, rescan, song

ARTIST, ALBUM = "Solveig Lund", "West of the Fjord"
TRACKS = [("First Light", 200.0), ("Boathouse", 181.0), ("Ærfugl", 242.0)]


def put_album(root: Path, tracks: list = TRACKS, *, artist: str = ARTIST, album: str = ALBUM, **tags: str) -> None:
    """Write it, and scan."""
    for number, (title, seconds, *_) in enumerate(tracks, start=1):
        said = {"title": title, "artist": artist, "album": album, "tracknumber": str(number)} | tags
        song(root, f"{album}/{number:02}.flac", seconds, **said)
    rescan(root)


def refresh(root: Path, path: str) -> dict:
    """Run the job for the track at that path."""
    return metadata_refresh(music.track_at(collection(root), path.encode()).id)


def column(name: str, root: Path, table: str = "tracks", by: str = "path") -> list[str | None]:
    """What the rows of this library say there, in order."""
    rows = store.rows(
        f"select {name} from {table} where collection_node_id = %(id)s order by {by}", id=collection(root)
    )
    return [None if value is None else str(value) for (value,) in rows]
