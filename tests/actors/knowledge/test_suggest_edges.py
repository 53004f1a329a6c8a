"""What a text is about, proposed: only what stands in it, and never again what was rejected."""

import json

import pytest

from actors.knowledge.suggest_edges import suggest_edges
from jobbko import settings, store
from jobbko.cli.migrate import publish
from jobbko.errors import Charged, Missing, Permanent
from jobbko.testing.queue import sent
from tests.actors.knowledge.writing import collection_node, edges

TIDES = {"name": "tides", "quote": "The tide in Bergen rises 90 centimetres"}
FALK = {"name": "Johan Falk", "quote": "Johan Falk measured it in 1887"}


def test_topics_and_people_are_proposed_with_where_the_text_says_so(article, says):
    says({"topics": [TIDES], "people": [FALK]})

    assert suggest_edges(article) == {"node_id": article, "proposed": 2, "unfounded": 0}
    assert edges(article) == [
        ("topic", "tides", "proposed", "The tide in Bergen rises 90 centimetres"),
        ("mention", "Johan Falk", "proposed", "Johan Falk measured it in 1887"),
    ]
    assert store.rows("select kind, title from nodes where kind in ('topic', 'person') order by 1") == [
        ("person", "Johan Falk"),
        ("topic", "tides"),
    ]


def test_a_second_run_asks_nobody_and_proposes_nothing(article, says):
    asked = says({"topics": [TIDES], "people": []})
    suggest_edges(article)

    assert suggest_edges(article) == {"node_id": article, "proposed": 0, "unfounded": 0}
    assert len(asked) == 1


def test_what_does_not_stand_in_the_text_is_dropped(article, says):
    invented = {"name": "whales", "quote": "whales come into the fjord with every tide"}
    wrong_number = {"name": "height", "quote": "The tide in Bergen rises 190 centimetres"}
    stranger = {"name": "Roald Amundsen", "quote": "Johan Falk measured it in 1887"}
    nameless = {**TIDES, "name": ""}
    says({"topics": [invented, wrong_number, nameless, TIDES], "people": [stranger]})

    assert suggest_edges(article)["unfounded"] == 4
    assert [title for _, title, _, _ in edges(article)] == ["tides"]


def test_what_a_person_rejected_stays_rejected_when_the_text_is_changed(article, says):
    asked = says({"topics": [TIDES], "people": []})
    suggest_edges(article)
    store.run("update edges set state = 'rejected', decided_at = now()")
    store.run("update nodes set content = content || ' It was cold.' where id = %(id)s", id=article)

    assert suggest_edges(article)["proposed"] == 0
    assert len(asked) == 2
    assert [(title, state) for _, title, state, _ in edges(article)] == [("tides", "rejected")]


def test_a_topic_that_there_is_already_is_not_made_again_in_another_spelling(article, collection, says):
    store.run("insert into nodes (collection_node_id, kind, title) values (%(of)s, 'topic', 'Tides')", of=collection)
    asked = says({"topics": [{**TIDES, "name": "#tides."}, {**TIDES, "name": "TIDES"}], "people": []})
    suggest_edges(article)

    assert [(kind, title) for kind, title, _, _ in edges(article)] == [("topic", "Tides")]
    assert "\nTides\n" in asked[0]


def test_a_flood_of_topics_is_cut_off(article, says):
    says({"topics": [{"name": f"topic {n}", "quote": TIDES["quote"]} for n in range(30)], "people": []})

    assert suggest_edges(article)["proposed"] == 8


def test_an_answer_that_does_not_fit_is_charged_and_leaves_nothing(article, says):
    says('{"topics": "tides", "people": []}')

    with pytest.raises(Charged):
        suggest_edges(article)
    assert edges(article) == []


def test_a_collection_has_its_own_prompt_and_names(says):
    own = collection_node(
        prompts={"suggest_edges": "Emner i $document, kjent: $topics, navn: $names"}, names=["Åse Øy"]
    )
    node = store.value(
        "insert into nodes (collection_node_id, kind, content) values (%(of)s, 'note', 'Flo og fjære i Bergen')"
        " returning id",
        of=own,
    )
    asked = says({"topics": [], "people": []})
    suggest_edges(node)

    assert asked[0].startswith("Emner i <data-")
    assert "\nFlo og fjære i Bergen\n" in asked[0]
    assert "\nÅse Øy\n" in asked[0]


def test_a_prompt_that_lacks_a_place_is_for_a_person_to_mend(says):
    own = collection_node(prompts={"suggest_edges": "Emner i $document"})
    node = store.value(
        "insert into nodes (collection_node_id, kind, content) values (%(of)s, 'note', 'Flo og fjære') returning id",
        of=own,
    )
    with pytest.raises(Permanent, match=r"must have the places \$document, \$names, \$topics"):
        suggest_edges(node)


def test_a_node_that_is_gone_is_nothing_to_do(database):
    with pytest.raises(Missing):
        suggest_edges("00000000-0000-0000-0000-0000000000ff")


@pytest.mark.parametrize(("characters", "jobs"), [(199, []), (200, ["generate_embeddings", "suggest_edges"])])
def test_an_applications_insert_of_enough_text_starts_the_jobs_once(published, collection, characters, jobs):
    node = store.value(
        "insert into nodes (collection_node_id, kind, content) values (%(of)s, 'note', %(text)s) returning id",
        of=collection,
        text="x" * characters,
    )
    store.run("update nodes set content = content || '' where id = %(id)s", id=node)
    if jobs:
        store.run("update nodes set content = content || '!' where id = %(id)s", id=node)

    waiting = [(job.job_type, job.payload) for job in sent()]
    assert sorted(waiting, key=json.dumps) == [(job, {"node_id": node}) for job in jobs]


def test_how_long_a_text_must_be_is_a_setting_that_migrate_writes(collection, monkeypatch):
    monkeypatch.setattr(settings, "SUGGEST_MIN_CHARS", 10)
    publish()
    for text in ("123456789", "1234567890"):
        store.run(
            "insert into nodes (collection_node_id, kind, content) values (%(of)s, 'note', %(text)s)",
            of=collection,
            text=text,
        )
    monkeypatch.setattr(settings, "SUGGEST_MIN_CHARS", 200)
    publish()  # the next test's database is this one

    assert [job.job_type for job in sent()] == ["suggest_edges", "generate_embeddings"]


def test_a_text_is_kept_where_no_worker_has_published_the_jobs(collection):
    assert store.run(
        "insert into nodes (collection_node_id, kind, content) values (%(of)s, 'note', repeat('x', 500))", of=collection
    )
