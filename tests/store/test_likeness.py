"""What sounds alike is found by one exact statement, with pgvector and without; what cannot be compared is left out."""

import math
import random
import uuid

import pytest

from jobbko import store
from jobbko.audio import embedding
from jobbko.store import likeness

pytestmark = pytest.mark.usefixtures("tx")
HERE = [0.0] * embedding.SIZE


def away(distance: float) -> list[float]:
    """A vector that far from HERE."""
    return [distance / math.sqrt(embedding.SIZE)] * embedding.SIZE


@pytest.fixture
def collection() -> str:
    return new_collection()


def new_collection() -> str:
    id = str(uuid.uuid4())
    store.run("insert into nodes (id, kind, title) values (%(id)s, 'collection', %(id)s)", id=id)
    return id


def track(collection: str, vector: list[float] | None, *, version: int = 1, fingerprint: str | None = None) -> str:
    id = str(uuid.uuid4())
    store.run(
        "insert into tracks (id, collection_node_id, path, path_text, path_key, size, mtime_ns, content_hash,"
        " audio_features_ready) values (%(id)s, %(collection)s, %(id)s, 'a', 'a', 1, 1, 'x', true)",
        id=id,
        collection=collection,
    )
    store.run(
        "insert into track_audio_features (track_id, analyzer, analyzer_version, collection_node_id, source_size,"
        " source_mtime_ns, status, embedding, embedding_version, fingerprint)"
        " values (%(id)s, 'essentia', 2, %(collection)s, 1, 1, 'ok', %(vector)s::real[], %(version)s, %(fingerprint)s)",
        id=id,
        collection=collection,
        vector=vector,
        version=version if vector else None,
        fingerprint=fingerprint,
    )
    return id


def near(collection: str, **options) -> list[tuple[str, float]]:
    found = likeness.sounds_like(collection, HERE, **{"version": 1, "limit": 10, **options})
    return [(one.track_id, round(one.distance, 3)) for one in found]


def test_the_nearest_come_first_with_their_distances(collection):
    far, close, same = (track(collection, away(distance)) for distance in (7, 2, 0))

    assert near(collection) == [(same, 0.0), (close, 2.0), (far, 7.0)]
    assert near(collection, limit=1) == [(same, 0.0)]
    assert near(collection, without=[same]) == [(close, 2.0), (far, 7.0)]


def test_another_version_another_collection_and_what_is_not_there_are_left_out(collection):
    track(collection, away(1), version=2)
    track(collection, None)
    track(new_collection(), away(1))
    missing, stale = track(collection, away(1)), track(collection, away(1))
    store.run("update tracks set state = 'MISSING' where id = %(id)s", id=missing)
    store.run("update tracks set audio_features_ready = false where id = %(id)s", id=stale)

    assert near(collection) == []


def test_without_pgvector_arithmetic_says_the_same():
    dice = random.Random(1)
    pairs = [[[dice.gauss(0, 2) for _ in range(embedding.SIZE)] for _ in range(2)] for _ in range(5)]

    def distances() -> list[float]:
        said = "select sound_distance(%(one)s::real[], %(other)s::real[])"
        return [store.value(said, one=one, other=other) for one, other in pairs]

    expected = [pytest.approx(math.dist(one, other), rel=1e-5) for one, other in pairs]
    assert distances() == expected

    store.run("drop extension if exists vector cascade")
    store.run("drop function if exists sound_distance")
    store.run("grant create on schema public to jobbko_api")
    store.run("set local role jobbko_api")  # who may not install an extension
    assert store.value("select make_sound_distance()") == "arithmetic"
    assert distances() == expected


def test_the_same_recording_is_found_by_its_fingerprint_in_its_own_collection(collection):
    one, other = (track(collection, None, fingerprint="AQAD" * 900) for _ in range(2))
    track(collection, None, fingerprint="AQAE" * 900)
    track(collection, None)
    track(new_collection(), None, fingerprint="AQAD" * 900)

    assert likeness.same_recording(one) == [other]
