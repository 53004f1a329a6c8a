"""The SQL of docs/how-to/enqueue.md, run as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jobbko import store

TEXT = (Path(__file__).parents[2] / "docs" / "how-to" / "enqueue.md").read_text()
STATEMENTS = [
    statement.strip()
    for block in re.findall(r"```sql\n(.*?)```", TEXT, re.DOTALL)
    for statement in re.sub(r"--.*", "", block).split(";")
    if statement.strip() not in ("", "begin", "commit")
]
ID = "00000000-0000-0000-0000-000000000001"


@pytest.mark.usefixtures("tx")
@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_sql_of_the_page_works(statement):
    store.run("insert into job_type (name, parameters, required) values ('audio_analysis', '{track_id}', '{track_id}')")
    store.run("create temporary table episodes (id uuid, audio text)")
    store.run(statement.replace("'…'", f"'{ID}'").replace("%", "%%"))
