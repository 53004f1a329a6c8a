"""Nothing of one collection gets in the way of another's, whoever writes it: an API's user or a job."""

from __future__ import annotations

import contextlib
import uuid

import dramatiq
import psycopg2
import pytest

from jobbko import settings, store
from jobbko.audio import folders
from jobbko.engine import PostgresBroker
from jobbko.errors import Missing
from jobbko.store import lookups
from jobbko.testing.worker import until, working

KARI = "00000000-0000-4000-8000-000000000001"
#: A row of hers (%(mine)s) that hangs on what is his: t, b, r, p are his track, album, artist and picture.
CROSSED = {
    "a track on his album": "insert into tracks (collection_node_id, album_id, path, size, mtime_ns, path_text,"
    " path_key, content_hash) values (%(mine)s, %(b)s, 'x', 1, 1, '', '', '')",
    "an album of his artist": "insert into albums (collection_node_id, artist_id, album_key, title)"
    " values (%(mine)s, %(r)s, 'other', 'x')",
    "a credit on his track": "insert into track_artists (track_id, position, artist_id, credited_as,"
    " collection_node_id) values (%(t)s, 1, %(r)s, 'x', %(mine)s)",
    "a measurement of his track": "insert into track_audio_features (track_id, analyzer, analyzer_version,"
    " collection_node_id, source_size, source_mtime_ns, status) values (%(t)s, 'x', 1, %(mine)s, 1, 1, 'ok')",
    "a cover for his track": "insert into artwork_link (track_id, artwork_id, collection_node_id, source)"
    " values (%(t)s, %(q)s, %(mine)s, 'user')",
    "a cover for his album": "insert into artwork_link (album_id, artwork_id, collection_node_id, source)"
    " values (%(b)s, %(q)s, %(mine)s, 'user')",
    "his cover for her album": "insert into artwork_link (album_id, artwork_id, collection_node_id, source)"
    " values (%(a)s, %(p)s, %(mine)s, 'user')",
}


def new(table: str, collection: str, **values: str) -> str:
    names = ", ".join(values)
    given = ", ".join(f"%({name})s" for name in values)
    statement = f"insert into {table} (collection_node_id, {names}) values (%(collection)s, {given}) returning id"
    return str(store.value(statement, collection=collection, **values))


def collection(title: str) -> str:
    id = str(uuid.uuid4())
    store.run("insert into nodes (id, kind, title) values (%(id)s, 'collection', %(title)s)", id=id, title=title)
    return id


def picture(collection: str) -> str:
    return new("artwork", collection, sha256="x", mime="x", width="1", height="1", bytes="1", store_path="x")


@pytest.mark.parametrize("statement", CROSSED.values(), ids=CROSSED)
def test_a_row_hangs_on_rows_of_its_own_collection_only(tx, statement):
    mine, his = collection("hers"), collection("his")
    album = new("albums", his, album_key="x", title="x")
    track = new("tracks", his, path="x", size="1", mtime_ns="1", path_text="", path_key="", content_hash="")
    artist = new("artists", his, artist_key="x", name="x")
    names = {"mine": mine, "t": track, "b": album, "r": artist, "p": picture(his), "q": picture(mine)}
    names["a"] = new("albums", mine, album_key="x", title="x")
    with pytest.raises(psycopg2.errors.ForeignKeyViolation):
        store.run(statement, **names)


def test_what_one_library_was_told_by_a_service_hides_nothing_from_another(tx):
    mine, his = collection("hers"), collection("his")
    album = new("albums", his, album_key="x", title="x")
    here, there = (lookups.Question("album", album, "coverart", "x", whose) for whose in (mine, his))
    lookups.answer(here, found=False, ttl=3600)
    assert lookups.begin(there, by=album)
    lookups.answer(there, found=False, ttl=3600)
    assert not lookups.begin(there, by=album)


@contextlib.contextmanager
def as_user(user: str):
    with store.transaction():
        store.run("set local role jobbko_api")
        store.rows("select set_config('jobbko.user_id', %(user)s, true)", user=user)
        yield
        store.run("reset role")


def test_a_user_holds_the_subjects_of_her_collections_and_sees_no_others(database):
    mine, his = collection("hers"), collection("his")
    store.run("insert into node_access values (%(mine)s, %(kari)s, 'operator')", mine=mine, kari=KARI)
    store.run("insert into job_type (name) values ('work')")
    for owner in (mine, his):
        store.run(
            "insert into job_queue (job_type, collection_node_id, subject) values ('work', %(owner)s, 'page:1')",
            owner=owner,
        )
        store.rows("select hold_jobs('page:2', %(owner)s)", owner=owner)
    with as_user(KARI):
        assert store.value("select hold_jobs('page:1', %(mine)s)", mine=mine) == 1
        assert store.rows("select subject from job_hold order by 1") == [("page:1",), ("page:2",)]
    with pytest.raises(psycopg2.errors.InsufficientPrivilege), as_user(KARI):
        store.rows("select hold_jobs('page:1', %(his)s)", his=his)
    assert store.rows("select collection_node_id::text, held from job_queue order by held") == [
        (his, False),
        (mine, True),
    ]
    assert store.value("select release_jobs('page:1', %(mine)s)", mine=mine) == 1


def test_a_user_adds_no_folder_of_the_machine_and_learns_of_none(database):
    mine, his = collection("hers"), collection("his")
    store.run("insert into node_access values (%(mine)s, %(kari)s, 'admin')", mine=mine, kari=KARI)
    add = "insert into library_roots (collection_node_id, path, path_text) values (%(id)s, '/music', '/music')"
    store.run(add, id=his)
    with pytest.raises(psycopg2.errors.InsufficientPrivilege), as_user(KARI):
        store.run(add, id=mine)


def test_notifications_that_every_login_may_hear_say_nothing_of_any_job(database):
    broker = PostgresBroker()

    @dramatiq.actor(broker=broker)
    def work():
        until(lambda: False, timeout=10)

    listener = psycopg2.connect(database)
    listener.autocommit = True
    with listener.cursor() as cursor:
        cursor.execute("set role jobbko_api; listen jobbko; listen jobbko_cancel; listen jobbko_events")
    work.send_with_options(tell=True)
    with working(broker):
        until(lambda: store.value("select status::text from job_queue") == "running")
        store.rows("select cancel_job(id) from job_queue")
        until(lambda: store.value("select status::text from job_queue") == "cancelled")
    listener.poll()
    heard = {(note.channel, note.payload) for note in listener.notifies}
    listener.close()
    assert heard == {("jobbko", ""), ("jobbko_cancel", ""), ("jobbko_events", "")}


def test_a_job_writes_into_its_own_collection_only_wherever_in_it(database):
    mine, his = collection("hers"), collection("his")
    broker = PostgresBroker()

    @dramatiq.actor(broker=broker)
    def plain(id):
        new("artists", id, artist_key="x", name="x")

    @dramatiq.actor(broker=broker)
    def together(id):
        with store.transaction():
            new("artists", id, artist_key="y", name="y")

    for job in (plain, together):
        job.send_with_options(args=(his,), collection=mine)
        job.send_with_options(args=(mine,), collection=mine)
    with working(broker, threads=1):
        until(lambda: store.value("select count(*) from job_queue where completed_at is not null") == 4)
    assert store.rows("select collection_node_id::text from artists") == [(mine,), (mine,)]
    ended = store.rows(
        "select status::text, attempts, error_msg from job_queue where payload ->> 'id' = %(id)s", id=his
    )
    assert (
        ended
        == [
            (
                *("error", 1),
                f"a job of collection {mine} may not write into artists. "
                "Send the job with the collection that its parameters belong to.",
            )
        ]
        * 2
    )
    new("artists", his, artist_key="z", name="z")  # the connection that the jobs had is free again


def test_a_job_that_looks_after_every_collection_writes_into_each_and_is_not_for_users(database):
    mine, his = collection("hers"), collection("his")
    store.run("insert into node_access values (%(mine)s, %(kari)s, 'admin')", mine=mine, kari=KARI)
    broker = PostgresBroker()

    @dramatiq.actor(broker=broker, every_collection=True)
    def tidy():
        for id in (mine, his):
            new("artists", id, artist_key="x", name="x")

    broker.job_types.publish()
    send = "insert into job_queue (job_type, collection_node_id) values ('tidy', %(mine)s)"
    with pytest.raises(psycopg2.errors.InsufficientPrivilege, match="only who runs the queue"), as_user(KARI):
        store.run(send, mine=mine)
    store.run(send, mine=mine)
    with working(broker):
        until(lambda: store.value("select status::text from job_queue") == "completed")
    assert store.value("select count(*) from artists") == 2


@pytest.mark.parametrize(
    "statement",
    [
        "update nodes set title = 'x' where id = %(his)s",
        "delete from nodes where id = %(his)s",
        "insert into node_access values (%(his)s, %(kari)s, 'admin')",
        "insert into nodes (collection_node_id, kind) values (%(his)s, 'page')",
    ],
)
def test_a_job_touches_no_collection_but_its_own_and_no_rights_to_it(database, statement):
    mine, his = collection("hers"), collection("his")
    broker = PostgresBroker()

    @dramatiq.actor(broker=broker)
    def work(theirs):
        store.run("update nodes set title = 'mine' where id = %(mine)s", mine=mine)
        if theirs:
            store.run(statement, his=his, kari=KARI)

    for theirs in (False, True):
        work.send_with_options(args=(theirs,), collection=mine)
    with working(broker, threads=1):
        until(lambda: store.value("select count(*) from job_queue where completed_at is not null") == 2)
    assert store.rows("select status::text from job_queue order by seq") == [("completed",), ("error",)]
    assert store.rows("select title from nodes where kind = 'collection' order by title") == [
        ("Default collection",),
        ("his",),
        ("mine",),
    ]


def test_an_interrupt_while_the_fence_is_put_up_leaves_none_in_the_wrong_place(database, monkeypatch):
    mine = collection("hers")
    store.value("select 1")  # a connection in the pool, without a fence
    with store.pool.connection() as conn:
        pass
    store.fence(mine)
    monkeypatch.setattr(store, "_marked", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.value("select 1")
    monkeypatch.undo()
    monkeypatch.setattr(settings, "DATABASE_URL", database)
    assert conn.collection is None
    store.fence(None)
    assert store.value("select current_setting('jobbko.collection', true)") == ""


@contextlib.contextmanager
def _interrupted(conn):
    yield
    raise KeyboardInterrupt


def test_a_user_writes_no_path_of_a_file_and_a_temporary_table_hides_no_rule(database):
    mine = collection("hers")
    store.run("insert into node_access values (%(mine)s, %(kari)s, 'admin')", mine=mine, kari=KARI)
    store.run("insert into job_type (name, every_collection) values ('tidy', true), ('work', false)")
    with as_user(KARI), pytest.raises(psycopg2.errors.InsufficientPrivilege), store.transaction():
        new("tracks", mine, path="../x", size="1", mtime_ns="1", path_text="", path_key="", content_hash="")
    with as_user(KARI):
        store.run("create temp table job_queue (x int); create temp table job_type (name text)")
        for values in ("'tidy', %(mine)s, 5", "'work', %(mine)s, 32000"):
            insert = f"insert into public.job_queue (job_type, collection_node_id, priority) values ({values})"
            with pytest.raises(psycopg2.errors.InsufficientPrivilege), store.transaction():
                store.run(insert, mine=mine)
        store.run("drop table pg_temp.job_queue; drop table pg_temp.job_type")


@pytest.mark.parametrize("path", [b"../secret.mp3", b"/etc/passwd", b"a/../../b.mp3", b"folder"])
def test_a_track_is_a_file_below_its_root(tmp_path, path):
    (tmp_path / "root" / "folder").mkdir(parents=True)
    (tmp_path / "secret.mp3").touch()
    with pytest.raises(Missing):
        folders.look(bytes(tmp_path / "root"), path, "library:x")
