"""Texts made findable by what they mean: what has not changed is not asked for again."""

import json

import psycopg2
import pytest

from actors.knowledge.generate_embeddings import BATCH, generate_embeddings
from jobbko import store
from jobbko.errors import Permanent, Throttled
from jobbko.store import embeddings
from jobbko.testing.gateway import error, vectors
from tests.actors.knowledge.writing import collection_node, recording


@pytest.fixture
def embeds(gateway):
    """A model of three numbers: how often a text says war, letter and nation. What it was asked comes in the list."""
    asked = []

    def answer(request):
        asked.append(request.body["input"])
        return vectors(*([each.count(word) + 0.1 for word in ("war", "letter", "nation")] for each in asked[-1]))

    gateway.script = answer
    return asked


def note(collection, content, title=""):
    return store.value(
        "insert into nodes (collection_node_id, kind, title, content) values (%(of)s, 'note', %(title)s, %(text)s)"
        " returning id",
        of=collection,
        title=title,
        text=content,
    )


def rows(node):
    return store.rows(
        "select chunk_no, start_ms, text, vector from embeddings where node_id = %(n)s order by 1", n=node
    )


def test_a_transcript_is_found_at_the_place_where_it_was_said(speech, collection, embeds):
    assert generate_embeddings(speech)["passages"] == 1  # 300 characters are one passage
    store.run("delete from embeddings")
    long = recording(collection, [(n * 1000, n * 1000 + 900, f"Word {n} and more of it. " * 9) for n in range(8)]
                     + [(8000, 9000, "The letter is on the table. " * 8)])  # fmt: skip
    generate_embeddings(long)

    found = embeddings.search(collection, "m", [0, 1, 0], limit=2)
    assert (found[0].node_id, found[0].start_ms) == (long, 8000)
    assert found[0].similarity > found[1].similarity


def test_a_second_run_asks_nobody_and_changes_no_row(article, embeds):
    assert generate_embeddings(article) == {"node_id": article, "model": "m", "passages": 1, "embedded": 1}
    before = store.rows("select *, xmin from embeddings")

    assert generate_embeddings(article)["embedded"] == 0
    assert store.rows("select *, xmin from embeddings") == before
    assert len(embeds) == 1


def test_only_what_has_changed_is_asked_for(collection, embeds):
    sentences = [f"Sentence number {n} is about nothing in particular, and long enough to be read. " for n in range(60)]
    node = note(collection, "".join(sentences))
    whole = generate_embeddings(node)
    sentences[30] = "The war was over. "
    store.run("update nodes set content = %(text)s where id = %(id)s", id=node, text="".join(sentences))

    changed = generate_embeddings(node)
    assert whole["embedded"] == whole["passages"] > 4
    assert changed["embedded"] < whole["passages"]
    assert [row[0] for row in rows(node)] == list(range(changed["passages"]))
    assert any("The war was over." in text for _, _, text, _ in rows(node))


def test_a_shorter_text_leaves_no_passage_behind(collection, embeds):
    node = note(collection, "A nation is a nation. " * 200)
    generate_embeddings(node)
    store.run("update nodes set content = 'War.' where id = %(id)s", id=node)
    generate_embeddings(node)

    assert [(text, vector) for _, _, text, vector in rows(node)] == [("War.", [0.1, 0.1, 0.1])]


def test_what_was_paid_for_is_kept_when_a_later_request_fails(collection, embeds, gateway):
    node = note(collection, "".join(f"This is sentence {n} of a very long text. " * 20 for n in range(90)))
    answer = gateway.script
    gateway.script = lambda asked: answer(asked) if not embeds else error(503, "busy", Retry_After="5")
    with pytest.raises(Throttled):
        generate_embeddings(node)
    assert len(rows(node)) == BATCH
    gateway.script = answer

    result = generate_embeddings(node)
    assert result["embedded"] == result["passages"] - BATCH
    assert len({text for batch in embeds for text in batch}) == sum(len(batch) for batch in embeds)


def test_models_lie_side_by_side_and_do_not_mix(article, collection, embeds, monkeypatch):
    generate_embeddings(article)
    store.run('update nodes set metadata = \'{"ai_model": "m"}\' where id = %(id)s', id=collection)
    monkeypatch.setattr("actors.knowledge.generate_embeddings.embedding_model", lambda: "other")
    generate_embeddings(article)

    assert store.rows("select model, count(*) from embeddings group by 1 order by 1") == [("m", 1), ("other", 1)]
    assert [each.node_id for each in embeddings.search(collection, "other", [1, 1, 1])] == [article]
    assert embeddings.search(collection, "no such model", [1, 1, 1]) == []


def test_another_model_under_the_same_name_is_refused_with_what_to_do(article, collection, embeds, gateway):
    generate_embeddings(article)
    gateway.script = lambda asked: vectors([1.0, 2.0])
    with pytest.raises(Permanent, match=r"a vector of m has 3 numbers, and this one 2\. Another model answers"):
        generate_embeddings(note(collection, "Something new."))


def test_a_search_sees_its_own_collection_only(article, embeds):
    generate_embeddings(article)

    assert embeddings.search(collection_node(), "m", [1, 1, 1]) == []


def test_one_collections_few_rows_are_found_among_many_of_others_by_an_index(collection, embeds):
    if not store.value("select has_pgvector()"):
        pytest.fail("the embedded Postgres has pgvector")
    store.run("insert into embedding_model (model, dims) values ('m', 3)")
    other = collection_node()
    for owner, many in ((other, 2000), (collection, 5)):
        store.run(
            "with n as (insert into nodes (collection_node_id, kind)"
            " select %(of)s, 'note' from generate_series(1, %(n)s) returning id)"
            " insert into embeddings (collection_node_id, node_id, model, chunk_no, text, content_hash, vector)"
            " select %(of)s, id, 'm', 0, 'x', '', array[random(), random(), random()]::real[] from n",
            of=owner,
            n=many,
        )
    assert embeddings.index("m")
    with store.transaction():
        store.run("set local enable_seqscan = off")
        store.run("drop index embeddings_collection")
        assert len(embeddings.search(collection, "m", [1, 0, 0], limit=5)) == 5


def test_long_vectors_are_indexed_as_half_precision(collection):
    store.run("insert into embedding_model (model, dims) values ('big', 3072)")
    node = note(collection, "x")
    store.run(
        "insert into embeddings (collection_node_id, node_id, model, chunk_no, text, content_hash, vector)"
        " values (%(of)s, %(node)s, 'big', 0, 'x', '', array_fill(0.5::real, array[3072]))",
        of=collection,
        node=node,
    )
    assert embeddings.index("big")
    assert embeddings.search(collection, "big", [0.5] * 3072)[0].similarity == pytest.approx(1, abs=1e-3)


def test_an_edge_and_a_vector_belong_to_the_collection_of_their_node(article):
    store.run("insert into embedding_model (model, dims) values ('m', 1)")
    with pytest.raises(psycopg2.errors.ForeignKeyViolation):
        store.run(
            "insert into embeddings (collection_node_id, node_id, model, chunk_no, text, content_hash, vector)"
            " values (%(of)s, %(node)s, 'm', 0, 'x', '', array[1]::real[])",
            of=collection_node(),
            node=article,
        )


def test_the_request_names_no_empty_text(collection, embeds):
    assert generate_embeddings(note(collection, "   \n "))["passages"] == 0
    assert json.dumps(embeds) == "[]"
