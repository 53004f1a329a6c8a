"""What no job can be is refused where it is declared or sent."""

from __future__ import annotations

import dramatiq
import pytest

from jobbko.engine.signature import PayloadRefused


def test_a_pipeline_that_is_too_long_is_refused(broker):
    @dramatiq.actor
    def work():
        pass

    step = work.message_with_options(pipe_ignore=True)
    dramatiq.pipeline([step.copy() for _ in range(200)]).run()
    with pytest.raises(PayloadRefused, match="at most 200 steps"):
        dramatiq.pipeline([step.copy() for _ in range(201)]).run()


@pytest.mark.parametrize("options", [{"max_attempts": 0}, {"priority": 40_000}, {"max_running": -1}, {"gates": "llm"}])
def test_an_option_that_no_job_can_have_is_refused_where_it_is_declared(broker, options):
    with pytest.raises(ValueError, match="work: "):

        @dramatiq.actor(**options)
        def work():
            pass

    assert "work" not in broker.actors


def test_a_priority_beyond_the_column_is_refused_where_it_is_sent(broker):
    @dramatiq.actor
    def work():
        pass

    with pytest.raises(ValueError, match="between -32768 and 32767"):
        work.send_with_options(priority=40_000)
