"""A library of figures, without files, and listening to it as an application reports it."""

import uuid

from actors.music.recommendation_gen import recommendation_gen
from jobbko import audio, store
from jobbko.store import listening

KARI, OLA = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"


def node(title: str = "") -> str:
    """A collection."""
    id = str(uuid.uuid4())
    store.run("insert into nodes (id, kind, title) values (%(id)s, 'collection', %(title)s)", id=id, title=title)
    return id


def add(
    collection: str, title: str, artist: str = "", *, status="ok", state="ACTIVE", recording=None, **figures
) -> str:
    """A track that sounds like this. Unsaid: 120 BPM, 8A, energy 0.5."""
    id = store.value(
        "insert into tracks (collection_node_id, path, path_text, path_key, size, mtime_ns, content_hash, title,"
        " artist_credit, state, mb_recording_id)"
        " values (%(c)s, %(p)s, %(t)s, %(t)s, 1, 1, 'x', %(t)s, %(a)s, %(state)s, %(r)s) returning id",
        c=collection, p=uuid.uuid4().bytes, t=title, a=artist or f"artist of {title}", state=state, r=recording,
    )  # fmt: skip
    sound = {"bpm": 120, "key_camelot": "8A", "energy": 0.5} | figures
    if status:
        names = ", ".join(sound)
        values = ", ".join(f"%({name})s" for name in sound)
        store.run(
            "insert into track_audio_features (track_id, collection_node_id, analyzer, analyzer_version, source_size,"
            f" source_mtime_ns, status, {names}) values (%(id)s, %(c)s, %(by)s, 1, 1, 1, %(status)s, {values})",
            id=id, c=collection, by=audio.ANALYZER, status=status, **sound,
        )  # fmt: skip
    return str(id)


def id_of(title: str) -> str:
    return str(store.value("select id from tracks where title = %(title)s", title=title))


def start(collection: str, user: str = KARI, id: str | None = None) -> str:
    return str(
        store.value(
            "insert into listening_session (id, collection_node_id, user_id) values (%(id)s, %(c)s, %(user)s)"
            " returning id",
            id=id or str(uuid.uuid4()), c=collection, user=user,
        )
    )  # fmt: skip


def play(session: str, track: str, *, completed=True, skipped=None, id=None, days_ago=0.0) -> str:
    """One event after the other: each begins when the clock of the database says so."""
    id = id or str(uuid.uuid4())
    store.run(
        "insert into playback_event (id, collection_node_id, session_id, user_id, track_id, completed, skipped_at_ms,"
        " started_at) select %(id)s, s.collection_node_id, s.id, s.user_id, %(track)s, %(completed)s, %(skipped)s,"
        " clock_timestamp() - %(days)s * interval '1 day' from listening_session s where s.id = %(session)s"
        " on conflict (id) do nothing",
        id=id, session=session, track=track, completed=completed and skipped is None, skipped=skipped, days=days_ago,
    )  # fmt: skip
    return id


def skip(session: str, track: str, **when: float) -> None:
    play(session, track, skipped=5000, **when)


def dislike(track: str, user: str = KARI, state: str = "hidden") -> None:
    store.run(
        "insert into dislikes (collection_node_id, track_id, user_id, state, warned_at)"
        " select collection_node_id, id, %(user)s, %(state)s, case when %(state)s = 'warned' then now() end"
        " from tracks where id = %(track)s",
        track=track, user=user, state=state,
    )  # fmt: skip


def like(track: str, user: str = KARI) -> None:
    store.run(
        "insert into likes (collection_node_id, track_id, user_id) select collection_node_id, id, %(user)s"
        " from tracks where id = %(track)s",
        track=track, user=user,
    )  # fmt: skip


def recommend(session: str, trigger: str = "session_start") -> list[str]:
    """The titles of the new batch, in its order; none if no batch was made."""
    made = recommendation_gen(session, trigger)["batch"]
    return [title for title, *_ in picks(made)]


def picks(batch: str | None) -> list[tuple[str, float, bool, str]]:
    return store.rows(
        "select t.title, i.score, i.explored, i.reason from vibe_batch_item i join tracks t on t.id = i.track_id"
        " where i.batch_id = %(batch)s order by i.pos",
        batch=batch,
    )


def batches(session: str) -> list[tuple[str, int, str]]:
    return store.rows(
        "select trigger, seq, reason from vibe_batch where session_id = %(session)s order by created_at",
        session=session,
    )


def waiting() -> list[dict]:
    """What the queue was asked for."""
    return [payload for (payload,) in store.rows("select payload from job_queue where job_type = 'recommendation_gen'")]


def seeds(session: str) -> list[tuple[str, str, float]]:
    return store.rows(
        "select t.title, s.kind, s.weight from vibe_seed s join tracks t on t.id = s.track_id"
        " where s.session_id = %(session)s order by s.weight desc",
        session=session,
    )


def stats(track: str, user: str = KARI) -> tuple[int, int, int]:
    (row,) = store.rows(
        "select plays, skips, skips_since_play from play_stats where track_id = %(track)s and user_id = %(user)s",
        track=track, user=user,
    )  # fmt: skip
    return row


SKIP_DAYS = listening.SKIPS_COUNT / 86400
