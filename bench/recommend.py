"""How long does a batch take in a large library? python bench/recommend.py [--json] [--tracks 100000].

A library of figures without files: as many tracks, a tenth as many artists, and a listener who has played a thousand of
them, disliked a hundred and is in the middle of a session. Ten batches are made, each after a track that she chose
herself; the first also warms the caches and is told apart. An embedded Postgres of its own, with its defaults.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

from jobbko import audio, settings, store
from jobbko.store import listening, pool
from jobbko.store.migrate import migrate
from jobbko.testing.postgres import temporary_server

USER = "00000000-0000-4000-8000-000000000001"
BATCHES = 10

TRACKS = """
with made as (
    insert into tracks (collection_node_id, path, path_text, path_key, size, mtime_ns, content_hash, title,
                        artist_credit, audio_features_ready)
    select %(c)s, n::text::bytea, n::text, n::text, 1, 1, '', 'Title ' || n, 'Artist ' || (n %% %(artists)s), true
      from generate_series(1, %(tracks)s) n
    returning id
)
insert into track_audio_features (track_id, collection_node_id, analyzer, analyzer_version, source_size,
            source_mtime_ns, status, bpm, key_camelot, energy, danceability, lufs, spectral_centroid,
            melody_voiced_ratio, melody_range, melody_motion, hpcp)
select id, %(c)s, %(analyzer)s, 1, 1, 1, 'ok', 60 + 140 * random(),
       1 + floor(12 * random()) || case when random() < 0.5 then 'A' else 'B' end, random(), random(),
       -25 + 20 * random(), 500 + 3000 * random(), random(), 24 * random(), 4 * random(),
       array(select random()::real from generate_series(1, 12) where id is not null)
  from made
"""
PLAYED = """
insert into playback_event (id, collection_node_id, session_id, user_id, track_id, completed)
select gen_random_uuid(), collection_node_id, %(session)s, %(user)s, id, true from tracks order by id limit 1000
"""
DISLIKED = """
insert into dislikes (collection_node_id, track_id, user_id)
select collection_node_id, id, %(user)s from tracks order by id desc limit 100
"""
CHOSEN = """
insert into playback_event (id, collection_node_id, session_id, user_id, track_id, completed, started_at)
select gen_random_uuid(), t.collection_node_id, %(session)s, %(user)s, t.id, true, clock_timestamp()
  from tracks t
 where not exists (select from vibe_batch_item i where i.track_id = t.id)
   and not exists (select from playback_event e where e.track_id = t.id)
 order by md5(t.id::text) limit 1
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--tracks", type=int, default=100_000)
    args = parser.parse_args()
    with temporary_server() as url:
        settings.DATABASE_URL = url
        migrate()
        found = measured(args.tracks)
        pool.close()
    print(
        f"{args.tracks} tracks: a batch takes {found['median_ms']} ms (median of {BATCHES - 1}; worst"
        f" {found['worst_ms']} ms, the very first {found['first_ms']} ms), of which the one statement that narrows down"
        f" {found['narrowing_ms']} ms; {found['candidates']} candidates"
    )
    if args.json:
        print(json.dumps({"tracks": args.tracks, **found}))


def measured(tracks: int) -> dict[str, float]:
    from actors.music.recommendation_gen import recommendation_gen

    collection = store.value("insert into nodes (kind, title) values ('collection', 'bench') returning id")
    store.run(TRACKS, c=collection, tracks=tracks, artists=max(1, tracks // 10), analyzer=audio.ANALYZER)
    earlier, session = (
        str(
            store.value(
                "insert into listening_session (collection_node_id, user_id) values (%(c)s, %(user)s) returning id",
                c=collection,
                user=USER,
            )
        )
        for _ in range(2)
    )
    store.run(PLAYED, session=earlier, user=USER)
    store.run(DISLIKED, user=USER)
    store.run("analyze")
    took, narrowing, sizes = list[float](), list[float](), list[int]()
    candidates = listening.candidates

    def timed(*given, **named):  # type: ignore[no-untyped-def]
        began = time.perf_counter()
        ids = candidates(*given, **named)
        narrowing.append(time.perf_counter() - began)
        sizes.append(len(ids))
        return ids

    listening.candidates = timed
    for _ in range(BATCHES):
        store.run(CHOSEN, session=session, user=USER)
        began = time.perf_counter()
        made = recommendation_gen.fn(session, "playback_completed")
        took.append(time.perf_counter() - began)
        assert made["tracks"] == 10, made
    return {
        "first_ms": round(took[0] * 1000),
        "median_ms": round(statistics.median(took[1:]) * 1000),
        "worst_ms": round(max(took[1:]) * 1000),
        "narrowing_ms": round(statistics.median(narrowing) * 1000),
        "candidates": sizes[-1],
    }


if __name__ == "__main__":
    main()
