"""What the tests of fan-ins share: photos that are read, some of which cannot be, and what follows."""

from __future__ import annotations

import dramatiq
import pytest
from dramatiq import group

from jobbko.errors import Permanent
from tests.engine.conftest import rows


@pytest.fixture
def board(broker):
    """Photos that are read, some of which cannot be, and what follows."""

    class Board:
        bad: set[int] = set()  # noqa: RUF012
        written: list[object] = []  # noqa: RUF012

    told = Board()
    told.bad, told.written = set(), []

    @dramatiq.actor
    def fetch(n):
        return n

    @dramatiq.actor
    def read(n):
        if n in told.bad:
            raise Permanent("unreadable")

    @dramatiq.actor
    def writeup(page):
        told.written.append(page)

    told.fetch, told.read, told.writeup = fetch, read, writeup
    return told


def photos(board, numbers, **options):
    step = group([board.read.message(n) for n in numbers])
    step.add_completion_callback(board.writeup.message_with_options(args=("page",), **options))
    return step


def done_reading():
    return all(row.status in ("completed", "error") for row in rows("job_type = 'read'"))
