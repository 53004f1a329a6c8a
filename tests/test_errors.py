"""An error that would decide nothing is refused where it is made."""

from __future__ import annotations

import pytest

from jobbko.errors import GateClosed
from jobbko.store import gates


def test_a_gate_is_closed_for_one_of_the_reasons_that_there_are():
    with pytest.raises(ValueError, match="llm cannot be closed for the reason 'quota', only for credit, auth, budget"):
        GateClosed("llm", "quota")


@pytest.mark.parametrize("name", ["", "llm+speech"])
def test_a_gate_that_no_job_can_need_is_not_paused(tx, name):
    with pytest.raises(ValueError, match="no job can need the gate"):
        gates.pause(name)
    assert gates.listing() == []
