"""The real local server, with the real model: fetched once into pytest's cache, served for a module of tests."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

import pytest

from jobbko import clients, settings
from jobbko.ai.gateways import Gateway
from jobbko.localai import models, process
from tests.ai.conftest import configure

#: Dollars for a million tokens, if the model were sold.
PRICES = {models.CHAT_NAME: {"input": 2.0, "cache_read": 1.0, "output": 8.0}}


@pytest.fixture(scope="session")
def models_here(pytestconfig):
    """Where the model is kept from one run to the next; `make clean` removes it."""
    with pytest.MonkeyPatch.context() as patch:
        folder = pytestconfig.cache.mkdir("local-ai")
        patch.setattr(settings, "DATA_DIR", folder)
        patch.setenv("JOBBKO_DATA_DIR", str(folder))  # for the processes
        yield folder


@pytest.fixture(scope="module")
def local(models_here):
    with process.running() as running:
        yield running


@pytest.fixture
def gateway(local, monkeypatch):
    """The local server as the gateway `default`, free, and as `priced`, whose tokens cost what PRICES says."""
    monkeypatch.setattr(clients, "transport", None)  # loopback alone
    said = {"url": local.url, "model": models.CHAT_NAME, "embedding_model": models.EMBEDDING_NAME}
    configure(monkeypatch, Gateway("default", free=True, **said), Gateway("priced", **said), prices=PRICES)


def asked(url, path, body=None, **headers):
    """Status and JSON of a request that no client of ours would send."""
    content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
    try:
        connection.request("GET" if body is None else "POST", path, content, headers)
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def answering(url):
    """How many requests the server has in hand."""
    return asked(url, "/health")[1]["answering"]
