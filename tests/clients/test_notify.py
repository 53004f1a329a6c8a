"""Telling a person."""

from __future__ import annotations

import pytest

from jobbko import settings
from jobbko.clients import notify
from jobbko.errors import Throttled

#: A client asks the queue for a permit before each request.
pytestmark = pytest.mark.usefixtures("tx")

TOPIC = "https://ntfy.sh/jobbko-test"


def test_posts_one_line(http, monkeypatch):
    monkeypatch.setattr(settings, "NOTIFY_URL", TOPIC)
    http.on("POST", TOPIC)

    notify.tell("llm is paused: løsepenger")

    assert http.requests[0].content.decode() == "llm is paused: løsepenger"


def test_tells_nobody_if_nobody_wants_to_know(http, monkeypatch):
    monkeypatch.setattr(settings, "NOTIFY_URL", "")
    notify.tell("x")
    assert http.requests == []


def test_says_when_it_could_not(http, monkeypatch):
    monkeypatch.setattr(settings, "NOTIFY_URL", TOPIC)
    http.on("POST", TOPIC, status=503)
    with pytest.raises(Throttled):
        notify.tell("x")
