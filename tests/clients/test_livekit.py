"""Whether somebody is in a call."""

import json

import httpx
import jwt
import pytest

from jobbko import settings
from jobbko.ai.hearing import Governor
from jobbko.clients import livekit

ROOMS = "http://call.example:7880/twirp/livekit.RoomService/ListRooms"
SECRET = "a secret of LiveKit's that is long enough"


@pytest.fixture(autouse=True)
def call(tx, monkeypatch):
    monkeypatch.setattr(settings, "LIVEKIT_URL", "ws://call.example:7880/")
    monkeypatch.setattr(settings, "LIVEKIT_KEY", "APIkey")
    monkeypatch.setattr(settings, "LIVEKIT_SECRET", SECRET)


@pytest.mark.parametrize(
    ("answer", "active"),
    [
        ({"rooms": []}, False),
        ({}, False),
        ({"rooms": [{"name": "a", "num_participants": 0}]}, False),
        ({"rooms": [{"name": "a"}, {"name": "b", "num_participants": 2}]}, True),
        ({"rooms": [{"name": "b", "numParticipants": 1}]}, True),
    ],
)
def test_a_room_with_somebody_in_it_is_a_call(http, answer, active):
    http.on("POST", ROOMS, json=answer)
    assert livekit.active() is active


def test_it_is_asked_with_a_token_that_allows_to_list_rooms_and_soon_expires(http):
    http.on("POST", ROOMS, json={})
    livekit.active()
    (request,) = http.requests

    claims = jwt.decode(request.headers["Authorization"].removeprefix("Bearer "), SECRET, algorithms=["HS256"])
    assert claims["iss"] == "APIkey"
    assert claims["video"] == {"roomList": True}
    assert 0 < claims["exp"] - claims["nbf"] <= 120
    assert json.loads(request.content) == {}


@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_a_server_that_cannot_say_counts_as_a_call(http, status):
    http.on("POST", ROOMS, status)
    assert livekit.active()


def test_so_does_one_that_cannot_be_reached_or_answers_something_else(http):
    http.breaks("POST", ROOMS, httpx.ConnectError("refused"))
    assert livekit.active()
    http.on("POST", ROOMS, content=b"<html>")
    assert livekit.active()


def test_it_is_asked_once_in_ten_seconds(http, monkeypatch):
    http.on("POST", ROOMS, json={"rooms": [{"num_participants": 1}]})
    now = [100.0]
    monkeypatch.setattr("jobbko.ai.hearing.time.monotonic", lambda: now[0])
    governor = Governor()

    assert [governor.low(), governor.low()] == [True, True]
    assert len(http.requests) == 1
    http.on("POST", ROOMS, json={})
    now[0] += 10
    assert governor.low() is False
    assert len(http.requests) == 2


@pytest.mark.parametrize(("setting", "low"), [("low", True), ("full", False)])
def test_a_person_may_decide_by_herself(monkeypatch, http, setting, low):
    monkeypatch.setattr(settings, "GOVERNOR", setting)
    assert Governor().low() is low
    assert http.requests == []


def test_without_livekit_nobody_is_asked(monkeypatch, http):
    monkeypatch.setattr(settings, "LIVEKIT_URL", "")
    assert Governor().low() is False
    assert http.requests == []
