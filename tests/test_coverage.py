"""Every test that the documents name is there, under that name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(test_\w+)(…?))?`")
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = sorted({found for document in DOCUMENTS for found in NAMED.findall(document.read_text())})


@pytest.mark.parametrize(("path", "name", "more"), NAMES, ids=lambda value: value or None)
def test_a_test_that_a_document_names_exists(path, name, more):
    source = (ROOT / path).read_text()
    if name:
        assert re.search(rf"^def {name}{'' if more else chr(92) + 'b'}", source, re.MULTILINE), f"{path} has no {name}"
