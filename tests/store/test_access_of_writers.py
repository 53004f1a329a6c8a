"""Who writes notes through an API: into her own collections, and what jobs propose is hers to decide."""

import contextlib
import uuid

import psycopg2
import pytest

from jobbko import store
from jobbko.cli.migrate import publish
from jobbko.testing.queue import sent

pytestmark = pytest.mark.usefixtures("tx")

ANNE, BO = str(uuid.uuid4()), str(uuid.uuid4())


@contextlib.contextmanager
def as_user(user):
    store.run("set local role jobbko_api")
    store.rows("select set_config('jobbko.user_id', %(user)s, true)", user=user)
    yield
    store.run("reset role")


def refused(statement, **params):
    with pytest.raises(psycopg2.errors.InsufficientPrivilege), store.transaction():
        store.run(statement, **params)


@pytest.fixture
def collection():
    """Anne's to change, Bo's to look at."""
    publish()
    collection = store.value("insert into nodes (kind) values ('collection') returning id")
    for user, role in ((ANNE, "admin"), (BO, "viewer")):
        store.run("insert into node_access (node_id, user_id, role) values (%(id)s, %(user)s, %(role)s)",
                  id=collection, user=user, role=role)  # fmt: skip
    return collection


NOTE = "insert into nodes (collection_node_id, kind, content) values (%(of)s, 'note', repeat('x', 300)) returning id"


def test_what_she_writes_is_read_by_the_jobs_in_her_collection(collection):
    with as_user(ANNE):
        store.rows(NOTE, of=collection)

    assert [(job.job_type, job.collection) for job in sent()] == [
        ("suggest_edges", collection),
        ("generate_embeddings", collection),
    ]


def test_who_may_only_look_writes_nothing_and_starts_nothing(collection):
    with as_user(BO):
        refused(NOTE, of=collection)

    assert sent() == []


def test_she_decides_on_a_proposal_and_cannot_pass_one_off_as_a_models(collection):
    one, other = (store.value(NOTE, of=collection) for _ in range(2))
    edge = (
        "insert into edges (collection_node_id, source_id, target_id, kind{more})"
        " values (%(of)s, %(one)s, %(other)s, 'x'{values})"
    )
    store.run(edge.format(more=", origin, state", values=", 'model', 'proposed'"), of=collection, one=one, other=other)
    with as_user(ANNE):
        assert store.run("update edges set state = 'rejected', decided_at = now()") == 1
        refused("update edges set origin = 'human'")
        refused(edge.format(more=", origin", values=", 'model'"), of=collection, one=other, other=one)
        assert store.run(edge.format(more="", values=""), of=collection, one=other, other=one) == 1
        refused("insert into embedding_model (model, dims) values ('mine', 3)")
        refused("update graph_setting set suggest_min_chars = 0")


def test_others_see_nothing_of_it(collection):
    store.run(NOTE, of=collection)
    with as_user(str(uuid.uuid4())):
        for table in (
            "nodes",
            "edges",
            "derived",
            "embeddings",
            "transcriptions",
            "transcription_segments",
            "media_peaks",
        ):
            assert store.value(f"select count(*) from {table}") == 0, table
