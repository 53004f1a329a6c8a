"""What each answer that a provider documents, or that somebody reported, means for the job and for the queue."""

from __future__ import annotations

import json
import random
import time
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, get_args

import httpx
import pytest

from jobbko.ai.verdicts import Kind, Verdict, error_for, judge, without_secrets
from jobbko.clients.reply import Reply
from jobbko.errors import Charged, GateClosed, Throttled
from tests.ai import (
    table_alone,
    table_anthropic,
    table_cli,
    table_gateways,
    table_openai,
    table_openrouter,
    table_speech,
    table_transport,
)
from tests.ai.rows import MIDNIGHT, NOW, Row

TABLES = (
    *(table_openai, table_gateways, table_speech, table_openrouter, table_anthropic, table_cli),
    *(table_transport, table_alone),
)
ROWS = [row for table in TABLES for row in table.ROWS]
GATE = "llm:here"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
def test_an_answer_is_judged_as_its_provider_documents_it(row: Row):
    verdict = judge(row.reply, now=NOW)

    assert (verdict and verdict.kind) == row.kind
    if verdict is not None:
        assert (verdict.retry_after, verdict.resume_at) == (row.seconds, row.until)
        assert row.says in verdict.message
        assert verdict.message
        assert verdict.plain_500 == (row.kind == "internal")


def test_no_two_rows_have_the_same_name():
    assert len({row.what for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("kind", ["credit", "auth"])
def test_money_and_keys_close_the_gate_until_somebody_opens_it(kind):
    error = error_for(Verdict(kind, "No.", None, None), GATE)
    assert isinstance(error, GateClosed)
    assert (error.gate, error.reason, error.resume_at, str(error)) == (GATE, kind, None, "No.")


def test_a_budget_closes_the_gate_until_there_is_a_new_one():
    error = error_for(Verdict("budget", "Spent.", None, MIDNIGHT), GATE)
    assert isinstance(error, GateClosed)
    assert (error.gate, error.reason, error.resume_at) == (GATE, "budget", MIDNIGHT)


@pytest.mark.parametrize(
    ("kind", "said", "seconds"),
    [
        # Given, so that it does not count in the doubling.
        ("rate-limit", None, 60),
        ("rate-limit", 7, 7),
        # The doubling begins at 60 s, so what is shorter is left to it.
        ("outage", None, None),
        ("outage", 5, None),
        ("outage", 60, None),
        ("outage", 600, 600),
    ],
)
def test_limits_and_outages_wait_as_long_as_they_were_told(kind, said, seconds):
    error = error_for(Verdict(kind, "Wait.", said, None), GATE)
    assert isinstance(error, Throttled)
    assert (error.service, error.retry_after, str(error)) == (GATE, seconds, "Wait.")


@pytest.mark.parametrize("kind", ["invalid", "timeout", "content", "image", "internal"])
@pytest.mark.parametrize("plain", [True, False])
def test_what_the_job_may_be_to_blame_for_is_charged(kind, plain):
    error = error_for(Verdict(kind, "No.", None, None, plain_500=plain), GATE)
    assert isinstance(error, Charged)
    assert (error.kind, error.service, str(error)) == (kind, GATE if plain else None, "No.")


def test_time_is_that_of_now_in_whatever_zone_it_is_told():
    spent = Reply("openai", 400, {}, {"error": {"type": "budget_exceeded"}})
    oslo = timezone(timedelta(hours=2))
    assert judge(spent, now=datetime(2026, 9, 21, 1, 0, tzinfo=oslo)).resume_at == MIDNIGHT
    assert judge(spent, now=datetime(2026, 9, 20, 23, 0)).resume_at == MIDNIGHT
    assert judge(spent).resume_at > datetime.now(UTC)


def test_headers_are_found_however_they_are_written():
    for headers in ({"retry-after": "9"}, {"RETRY-AFTER": "9"}, httpx.Headers({"Retry-After": "9"})):
        assert judge(Reply("openai", 429, headers, None), now=NOW).retry_after == 9


# Junk.

DEEP: Any = []
for _ in range(900):
    DEEP = [DEEP]
ODD = "\x00\x1b[31m\ud800\u202e\ufeff\U0010ffff�"
JUNK = [
    *(None, True, 0, -1, 1.5, float("nan"), 10**400, "", " ", "null", ODD, "x" * 100_000, "<" * 10_000, b"\xff"),
    *([], [[]], [None], DEEP, {}, {"": None}, {"error": ODD}, {"error": []}, {"error": [DEEP]}, {"error": 7}),
    *({"error": {"message": DEEP, "code": DEEP, "type": {}, "metadata": DEEP, "availability": 3}},),
    *({"error": {"code": 10**30, "message": 5, "metadata": {"raw": "[" * 50_000, "headers": [], "resets_at": []}}},),
    *({"error": {"code": True, "metadata": {"raw": {"error": 1}, "provider_name": []}, "availability": {"code": []}}},),
    *({"error": {"metadata": {"headers": {"X-RateLimit-Reset": "9" * 400}, "resets_at": 1e300}}, "choices": 1},),
    *({"choices": None}, {"choices": []}, {"choices": [None]}, {"choices": [[]]}, {"choices": [{"message": None}]}),
    *({"choices": [{"message": {"content": [None, [], {"text": 5}, {"name": []}]}, "finish_reason": []}]},),
    *({"choices": [{"error": ""}], "usage": None}, {"data": None}, {"data": [None]}, {"detail": [None, {"loc": 3}]}),
    *({"detail": [{"loc": [1, None, "a"], "msg": {}}]}, {"detail": DEEP}, {"type": "error"}, {"type": ["error"]}),
    *({"type": "message", "content": None}, {"type": "result", "is_error": 1, "errors": [None, []], "result": {}}),
    *({"subtype": 5, "is_error": None, "api_error_status": "x"}, {"is_error": True, "api_error_status": DEEP}),
]
HEADERS = [{}, {"Retry-After": ODD, "content-type": ""}, {"retry-after": "nan", "retry-after-ms": "-inf"}]


def usable(verdict: Verdict | None) -> None:
    if verdict is None:
        return
    assert verdict.kind in get_args(Kind)
    assert 0 < len(verdict.message) <= 500
    assert verdict.message.isprintable()
    json.dumps(verdict.message).encode()
    verdict.message.encode()
    assert verdict.retry_after is None or 1 <= verdict.retry_after <= 3600
    assert (verdict.resume_at is None) == (verdict.kind != "budget")
    error_for(verdict, GATE)


@pytest.mark.parametrize("provider", ["openai", "openrouter", "anthropic", "cli", "somebody"])
@pytest.mark.parametrize("status", [None, 0, 200, 302, 400, 403, 429, 500, 999])
def test_junk_is_judged_too(provider, status):
    for body in JUNK:
        for headers in HEADERS:
            usable(judge(Reply(provider, status, headers, body, exit_code=0), now=NOW))


def test_answers_that_were_damaged_on_their_way_are_judged_too():
    dice = random.Random(7)
    pieces = [row.body for row in ROWS] + JUNK[:12]

    def damaged(value: Any) -> Any:
        if dice.random() < 0.1:
            return dice.choice(pieces)
        if isinstance(value, dict):
            return {key: damaged(each) for key, each in value.items() if dice.random() > 0.05}
        return [damaged(each) for each in value] if isinstance(value, list) else value

    for row in ROWS * 5:
        usable(judge(Reply(row.provider, row.status, row.headers, damaged(row.body), None, row.exit_code), now=NOW))


def test_a_long_page_is_judged_at_once():
    started = time.monotonic()
    for text in ("model " * 300_000, "api key: " * 200_000, "://a:" * 300_000, "resets " * 200_000, "sk-" * 500_000):
        usable(judge(Reply("openai", 400, {}, {"error": {"message": text}}), now=NOW))
        usable(judge(Reply("cli", None, {}, text, exit_code=1), now=NOW))
    assert time.monotonic() - started < 5


# Secrets.

KEYS = [
    *("sk-1234", "sk-proj-abcDEF0123456789_-xyz", "sk-ant-api03-AAAA-BBBB_cccc", "sk-or-v1-0123456789abcdef"),
    *(
        "sk-abc***********wxyz",
        "AIzaSyA-0123456789abcdefghijklmnopqrstu",
        "hf_abcdefghijklmnop",
        "gsk_0123456789abcdef",
    ),
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
]
PLACES = [
    *("Incorrect API key provided: {}. You can find", "Authorization: Bearer {}", "'authorization': 'Bearer {}'"),
    *("x-api-key: {}", '{{"x-api-key": "{}"}}', "api_key={}&model=m", "GET https://host/v1/models?key={} failed"),
    *("Illegal header value b'{}\\n'", "bearer {}", "Basic {}", "password: {}", "https://user:{}@host/v1"),
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("place", [*PLACES, "{}", "the key {}, and more"])
def test_what_looks_like_a_key_is_told_to_nobody(key, place):
    said = place.format(key)
    message = judge(Reply("openai", 401, {}, {"error": {"message": said}})).message
    assert key not in message
    assert key not in judge(Reply("openai", None, {}, None, httpx.ConnectError(said))).message
    assert key not in judge(Reply("cli", None, {}, said, exit_code=1)).message


@pytest.mark.parametrize("place", PLACES)
def test_a_key_of_no_known_form_is_found_where_keys_stand(place):
    assert "hemmelig-nøkkel-7" not in without_secrets(place.format("hemmelig-nøkkel-7"), ())


def test_secrets_that_are_known_are_removed_wherever_they_stand():
    assert without_secrets("abcd1234 or abcd1234efgh!", ["abcd1234", " abcd1234efgh\n"]) == "*** or ***!"
    assert without_secrets("a is a letter", ["a", "", "  "]) == "a is a letter"


def test_what_is_no_secret_is_left():
    for said in ("max_tokens: 4096 is too many", "a task-oriented Bearer scheme.", "see https://host:8080/v1?model=m"):
        assert without_secrets(said, ()) == said


def test_a_key_is_not_cut_in_half_at_the_end_of_a_message():
    said = "x" * 480 + " unheard-of-secret-0123456789"
    message = judge(Reply("openai", 400, {}, {"error": {"message": said}})).message
    assert message == "x" * 480 + "…"
