"""Disliking and liking tracks as an application does it, and what became of that."""

from pathlib import Path

from jobbko import store
from jobbko.store import music
from tests.actors.music.scanning import collection

KARI, OLA = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"


def dislike(root: Path, name: str = "a", *, hours=0.0, warned=None, user=KARI) -> str:
    """As an application does it, so many hours ago."""
    track = music.track_at(collection(root), f"album/{name}.flac".encode())
    return str(
        store.value(
            "insert into dislikes (collection_node_id, track_id, user_id, disliked_at, state, warned_at) values"
            " (%(c)s, %(t)s, %(user)s, now() - %(hours)s * interval '1 hour',"
            " case when %(warned)s::float is null then 'hidden' else 'warned' end,"
            " now() - %(warned)s * interval '1 hour') returning id",
            c=track.collection_node_id, t=track.id, user=user, hours=hours, warned=warned,
        )
    )  # fmt: skip


def like(root, name="a", user=OLA) -> None:
    track = music.track_at(collection(root), f"album/{name}.flac".encode())
    store.run("insert into likes (collection_node_id, track_id, user_id) values (%(c)s, %(t)s, %(user)s)",
              c=track.collection_node_id, t=track.id, user=user)  # fmt: skip


def left(root: Path) -> list[str]:
    return sorted(path.stem for path in root.rglob("*.flac"))


def state(id) -> str | None:
    rows = store.rows("select state from dislikes where id = %(id)s", id=id)
    return rows[0][0] if rows else None
