"""A gateway that says what a test tells it to, set up as an operator would set it up."""

from __future__ import annotations

from decimal import Decimal

import pytest

from jobbko import clients, settings, store
from jobbko.ai import gateways
from jobbko.ai.gateways import Configuration, Gateway
from jobbko.testing.gateway import scripted_gateway

KEY = "sk-or-v1-0123456789abcdef0123456789abcdef"
PRICES = {"m": {"input": 1.0, "cache_read": 0.1, "output": 10.0}}


@pytest.fixture
def gateway(monkeypatch):
    """Named "main": a dollar for a million tokens of input, ten for output."""
    monkeypatch.setattr(clients, "transport", None)  # loopback alone
    monkeypatch.setenv("GATEWAY_KEY", KEY)
    with scripted_gateway() as running:
        configure(monkeypatch, Gateway("main", url=running.url, key="GATEWAY_KEY", model="m"))
        yield running


def configure(monkeypatch, *known, prices=PRICES):
    said = Configuration({each.name: each for each in known}, {}, prices)
    monkeypatch.setattr(gateways, "configuration", lambda: said)
    monkeypatch.setattr("jobbko.ai.prices.configuration", lambda: said)


@pytest.fixture
def budget(monkeypatch):
    return lambda dollars: monkeypatch.setattr(settings, "BUDGET_DAY_USD", Decimal(dollars))


def run():
    """The ledger's only row."""
    (found,) = store.rows(
        "select state, class, input_tokens, cache_read_tokens, output_tokens, cost_usd::float8, cost_source"
        " from model_run"
    )
    return found


def today():
    """(reserved, spent) of everything."""
    return store.rows("select reserved_usd::float8, spent_usd::float8 from budget_day where scope = 'all'")[0]
