"""`jobbko ai test` and `jobbko spend`."""

from __future__ import annotations

import json

import pytest

from jobbko.testing.gateway import completion, error
from tests.ai.conftest import budget, configure, gateway  # noqa: F401


def test_a_gateway_that_answers_is_shown_with_its_answer_and_price(run, gateway):  # noqa: F811
    gateway.script = lambda asked: completion('{"capital": "Oslo"}', prompt=100, output=10)
    assert "main: m answers 'Oslo' for $0.000200" in run("ai", "test")
    assert json.loads(run("ai", "test", "main", "--json"))["gateways"][0]["ok"] is True
    assert "Today $0.0004 (no limit)" in run("spend")
    (row,) = json.loads(run("spend", "--json"))["spending"]
    assert (row["calls"], row["input_tokens"], row["output_tokens"], row["cost_usd"]) == (2, 200, 20, 0.0004)


@pytest.mark.parametrize(
    ("said", "told", "remedy"),
    [
        (error(401, "Incorrect API key provided", code="invalid_api_key"), "Incorrect API key", "Check the key"),
        (error(429, "You exceeded your quota", type="insufficient_quota"), "exceeded your quota", "Add credit"),
        (error(503, "overloaded"), "overloaded", "Is the server running"),
        (completion("Oslo!"), "does not fit", "Is `answers` of the gateway"),
    ],
)
def test_one_that_does_not_is_told_with_a_remedy(run, gateway, said, told, remedy):  # noqa: F811
    gateway.script = lambda asked: said
    output = run("ai", "test", code=1)
    assert told in output
    assert remedy in output


def test_no_gateway_and_no_such_gateway(complaint, gateway, monkeypatch):  # noqa: F811
    assert "There is no gateway x. Known: main." in complaint("ai", "test", "x", code=3)
    configure(monkeypatch)
    assert "No gateway is configured. Set JOBBKO_AI_URL" in complaint("ai", "test")


def test_spending_of_nothing(run, budget):  # noqa: F811
    budget("1.50")
    assert run("spend") == "Today $0.0000 of $1.50, until 00:00 UTC.\nNo model has been called.\n"
