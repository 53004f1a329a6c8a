"""Fixtures of the store's tests: a data folder for an embedded Postgres of one's own."""

from __future__ import annotations

import shutil

import pytest

from tests.store.processes import new_place, stopped
from tests.waiting import until


@pytest.fixture
def nowhere():
    """A data folder in which there is nothing yet."""
    place = new_place()
    yield place
    until(lambda: stopped(place))
    shutil.rmtree(place)
