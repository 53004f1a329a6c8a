"""Apply the numbered files of store/migrations/ in order, each once, all under one advisory lock."""

from __future__ import annotations

from importlib import resources

from jobbko import store

sql = store.queries("migrate.sql")


def migrate() -> list[str]:
    """The names of the files applied now. Safe from many processes at once: the others wait and find nothing to do."""
    applied = []
    with store.transaction():
        store.run(sql["lock"])
        store.run(sql["create"])
        done = _applied()
        for name, text in _files().items():
            if name not in done:
                store.run(text.replace("%", "%%"))
                store.run(sql["record"], name=name)
                applied.append(name)
    return applied


def pending() -> list[str]:
    """The names of the files that `migrate` would apply; reads only."""
    done = _applied() if store.value(sql["exists"]) else set()
    return [name for name in _files() if name not in done]


def _applied() -> set[str]:
    return set(store.value(sql["applied"]) or [])


def _files() -> dict[str, str]:
    folder = resources.files(store.__name__) / "migrations"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return {file.name: file.read_text(encoding="utf-8") for file in files}
