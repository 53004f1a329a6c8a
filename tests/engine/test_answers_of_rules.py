"""What a rule (`@follows`) may give back."""

from __future__ import annotations

import dramatiq
import pytest
from dramatiq import group

from jobbko.testing.worker import until, working
from tests.engine.conftest import all_are, rows


@pytest.fixture
def seen(broker):
    return []


@pytest.fixture
def scan(broker):
    @dramatiq.actor
    def scan():
        pass

    return scan


@pytest.fixture
def paint(broker, seen):
    @dramatiq.actor
    def paint(n, result=None):
        seen.append(n)

    return paint


def one(paint):
    return paint.message(1)


def one_pipeline(paint):
    return paint.message(1) | paint.message(2)


def one_group(paint):
    return group([paint.message(1), paint.message(2)])


def several(paint):
    return [paint.message(1), paint.message(2)]


def nothing(paint):
    return None


def an_empty_group(paint):
    step = group([])
    step.add_completion_callback(paint.message(1))
    return step


@pytest.mark.parametrize(
    ("rule", "follows"),
    [(one, [1]), (one_pipeline, [1, 2]), (one_group, [1, 2]), (several, [1, 2]), (nothing, []), (an_empty_group, [1])],
)
def test_a_rule_gives_back_one_step_or_several_or_none(broker, seen, scan, paint, rule, follows):
    broker.follows(scan)(lambda result: rule(paint))
    scan.send()
    with working(broker):
        until(lambda: len(rows()) == 1 + len(follows) and all_are("completed"))
    assert sorted(seen) == follows
    assert len({row.flow_id for row in rows()}) == 1
