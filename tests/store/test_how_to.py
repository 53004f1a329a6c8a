"""The SQL of docs/how-to, run as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jobbko import store

PAGES = sorted((Path(__file__).parents[2] / "docs" / "how-to").glob("*.md"))
STATEMENTS = [
    pytest.param(statement.strip(), id=f"{page.stem} {statement.strip()[:60]}")
    for page in PAGES
    for block in re.findall(r"```sql\n(.*?)```", page.read_text(), re.DOTALL)
    for statement in re.sub(r"--.*", "", block).split(";")
    if statement.strip() not in ("", "begin", "commit")
]
ID = "00000000-0000-0000-0000-000000000001"


@pytest.mark.usefixtures("tx")
@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_sql_of_the_page_works(statement):
    store.run("insert into job_type (name, parameters, required) values ('audio_analysis', '{track_id}', '{track_id}')")
    store.run("create temporary table episodes (id uuid, audio text)")
    store.run(
        "insert into tracks (id, collection_node_id, path, path_text, path_key, size, mtime_ns, content_hash)"
        " values (%(id)s, %(id)s, 'a', 'a', 'a', 1, 1, 'x')",
        id=ID,
    )
    store.run(
        "insert into listening_session (id, collection_node_id, user_id) values (%(id)s, %(id)s, %(id)s)",
        id=ID,
    )
    if statement.startswith("update playback_event"):
        store.run(
            "insert into playback_event (id, collection_node_id, session_id, user_id, track_id)"
            " values (%(id)s, %(id)s, %(id)s, %(id)s, %(id)s)",
            id=ID,
        )
    done = store.run(statement.replace("'…'", f"'{ID}'").replace("%", "%%"))
    assert done == 1 or not statement.startswith("update")
