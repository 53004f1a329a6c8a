"""Every named statement is understood by Postgres: each is prepared against the migrated schema, none is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jobbko import store

FILES = sorted(Path(store.__file__).parent.glob("*.sql"))
STATEMENTS = [
    pytest.param(text, id=f"{file.stem}.{name}")
    for file in FILES
    for name, text in store.queries(file.name).items()
    if re.match(r"(--[^\n]*\n|\s)*(select|insert|update|delete|with)", text)
]


@pytest.mark.usefixtures("tx")
@pytest.mark.parametrize("text", STATEMENTS)
def test_is_valid(text):
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", text)))
    numbered = re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", text).replace("%%", "%")
    store.run(f"prepare checked as {numbered}".replace("%", "%%"))
    store.run("deallocate checked")
