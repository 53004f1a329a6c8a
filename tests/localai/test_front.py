"""The server's port, asked by strangers."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from jobbko.localai import models
from jobbko.localai.front import LARGEST
from tests.localai.conftest import answering, asked
from tests.waiting import until

pytestmark = pytest.mark.slow

CHAT, EMBEDDINGS = "/v1/chat/completions", "/v1/embeddings"


def refused(found):
    status, body = found
    return status, body["error"]["message"]


def test_says_what_it_serves_and_that_it_is_a_demonstration(local):
    status, body = asked(local.url, "/v1/models")
    assert status == 200
    assert [each["id"] for each in body["data"]] == [models.CHAT_NAME, models.EMBEDDING_NAME]
    assert body["data"][0]["description"].startswith("a tiny demonstration model")


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/v1/audio", {}, 404, "there is no /v1/audio here"),
        (CHAT, b"{", 400, "JSON object"),
        (CHAT, [], 400, "JSON object"),
        (CHAT, {"messages": "hello"}, 400, "Expected 'messages' to be an array"),  # llama.cpp's own words
        (CHAT, {"messages": [], "stream": True}, 400, "not as a stream"),
        (EMBEDDINGS, {}, 400, "none of them empty"),
        (EMBEDDINGS, {"input": []}, 400, "none of them empty"),
        (EMBEDDINGS, {"input": ["a", ""]}, 400, "none of them empty"),
        (EMBEDDINGS, {"input": [1]}, 400, "none of them empty"),
        (EMBEDDINGS, {"input": ["a"] * 2049}, 400, "at most 2048"),
    ],
)
def test_refuses_in_words_what_it_does_not_do(local, path, body, status, words):
    found, said = refused(asked(local.url, path, body))
    assert found == status
    assert words in said


def test_refuses_what_is_too_large_without_reading_it(local):
    connection = http.client.HTTPConnection(urlsplit(local.url).netloc, timeout=60)
    connection.putrequest("POST", CHAT)
    connection.putheader("Content-Length", str(LARGEST + 1))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_a_text_with_a_zero_or_half_a_surrogate_is_embedded_to_its_end(local):
    def vector(text):
        return asked(local.url, EMBEDDINGS, {"input": text})[1]["data"][0]["embedding"]

    assert vector("tide\0table") == vector("tide table") != vector("tide")
    assert len(vector("\ud800")) == 384


def test_a_question_has_another_vector_than_a_passage(local):
    vectors = [
        asked(local.url, EMBEDDINGS, {"input": "tide table", "input_type": kind})[1]["data"][0]["embedding"]
        for kind in ("passage", "query")
    ]
    assert vectors[0] != vectors[1]


def test_whoever_goes_away_is_not_worked_for_any_longer(local):
    connection = http.client.HTTPConnection(urlsplit(local.url).netloc)
    question = {
        "messages": [{"role": "user", "content": "Count from 1 to 10000."}],
        "max_tokens": 4000,
        "ignore_eos": True,
    }
    connection.request("POST", CHAT, json.dumps(question))
    until(lambda: answering(local.url) == 1)
    connection.close()
    until(lambda: answering(local.url) == 0)
    # It answers one at a time, so this one would have to wait for 4000 words.
    status, body = asked(local.url, CHAT, {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1})
    assert (status, body["usage"]["completion_tokens"]) == (200, 1)


def test_ends_with_the_process_that_started_it_even_if_that_is_killed(models_here):
    code = (
        "from jobbko.localai import process\n"
        "with process.running() as local:\n"
        "    print(local.process.pid, flush=True)\n"
        "    input()\n"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    with starter:
        pid = int(starter.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        os.kill(starter.pid, signal.SIGKILL)
    until(lambda: not _runs(pid))


def _runs(pid):
    """A process that ended may still be listed, as a zombie, until somebody asks for its end."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False
