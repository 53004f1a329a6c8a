"""A fan-in that could never fire is refused; one that cannot send what follows says so."""

from __future__ import annotations

import pytest
from dramatiq import group

from jobbko import store
from jobbko.testing.worker import until, working
from tests.engine.conftest import rows, statuses
from tests.engine.fan_in.conftest import photos


def test_a_callback_that_could_never_be_sent_is_refused_with_its_group(broker, board):
    for callback, fault in [
        (board.writeup.message("page").copy(message_id="nope"), "'nope' is not a UUID"),
        (board.writeup.message(), "writeup needs page"),
    ]:
        step = group([board.read.message(1)])
        step.add_completion_callback(callback)
        with pytest.raises(ValueError, match=fault):
            step.run()
    assert rows() == []


def test_a_branch_ends_even_if_its_callback_cannot_be_sent(broker, board):
    photos(board, range(2)).run()
    store.run('update flow_barrier set callbacks = \'[{"id": "nope"}]\'')
    with working(broker):
        until(lambda: set(statuses()) == {"completed"})
        until(lambda: store.value("select error like '%%uuid%%' from flow_barrier"))
