"""Apply the numbered files of store/migrations/ in order, each once, all under one advisory lock."""

from __future__ import annotations

import hashlib
from importlib import resources

from jobbko import settings, store
from jobbko.errors import UserError

sql = store.queries("migrate.sql")


def migrate() -> list[str]:
    """The names of the files applied now. Safe from many processes at once: the others wait and find nothing to do.

    Raises UserError if a file was another one when it was applied.
    """
    applied = []
    with store.transaction():
        store.run(sql["lock"])
        store.run(sql["create"])
        done = _applied()
        for name, text in _files().items():
            if name not in done:
                store.run(text.replace("%", "%%"))
                store.run(sql["record"], name=name, sha256=_sha256(text))
                applied.append(name)
    return applied


def pending() -> list[str]:
    """The names of the files that `migrate` would apply; reads only. Raises UserError as `migrate` does."""
    done = _applied() if store.value(sql["exists"]) else {}
    return [name for name in _files() if name not in done]


def _applied() -> dict[str, str]:
    """The files that are in the database already, with what they were."""
    done: dict[str, str] = store.value(sql["applied"]) or {}
    for name, text in _files().items():
        if name in done and done[name] != _sha256(text):
            where = "another DATABASE_URL" if settings.DATABASE_URL else f"move {settings.data_dir() / 'postgres'} away"
            raise UserError(
                f"This database was made by an unreleased version ({name} was another), and cannot be brought up to "
                f"date. Begin with an empty one: {where}."
            )
    return done


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _files() -> dict[str, str]:
    folder = resources.files(store.__name__) / "migrations"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return {file.name: file.read_text(encoding="utf-8") for file in files}
