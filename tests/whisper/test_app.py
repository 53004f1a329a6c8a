"""The routes of the speech server, in front of a model that says what it was asked."""

from __future__ import annotations

import asyncio
import threading

import numpy
import pytest
from starlette.testclient import TestClient

from jobbko.audio import sound
from jobbko.whisper import app as app_module
from jobbko.whisper.app import application
from jobbko.whisper.line import WAITING, Full, Line
from jobbko.whisper.models import Model
from jobbko.whisper.transcriber import Stopped, Transcript

ROUTE = "/v1/audio/transcriptions"
SECOND = sound.wav(numpy.zeros(sound.RATE, dtype="<i2"))


class Recorder:
    """Hears one segment of two words, and keeps what it was asked."""

    def __init__(self, multilingual=False):
        self.model, self.multilingual, self.threads = Model("whisper-tiny.en", "/model"), multilingual, 0
        self.asked = []

    def languages(self):
        return {"en", "no"} if self.multilingual else {"en"}

    def transcribe(self, samples, asked, stop):
        self.asked.append((len(samples), asked))
        words = [{"start": 0.1, "end": 0.4, "word": " Good"}, {"start": 0.4, "end": 0.9, "word": " morning."}]
        segment = {"start": 0.1, "end": 0.9, "text": " Good morning.", "no_speech_prob": 0.01, "avg_logprob": -0.2}
        return Transcript("en", 1.0, [segment | ({"words": words} if asked.words else {})])


@pytest.fixture
def recorder():
    return Recorder()


@pytest.fixture
def client(recorder):
    return TestClient(application(recorder))


def send(client, content=SECOND, name="talk.wav", **fields):
    return client.post(ROUTE, files={"file": (name, content)}, data=fields)


def test_the_text_comes_as_json_if_nothing_else_is_asked_for(client):
    reply = send(client)
    assert (reply.status_code, reply.json()) == (200, {"text": "Good morning."})


def test_verbose_json_has_segments_and_the_words_that_were_asked_for(client):
    plain = send(client, response_format="verbose_json").json()
    assert (plain["task"], plain["language"], plain["duration"]) == ("transcribe", "en", 1.0)
    assert [(each["start"], each["end"], each["text"]) for each in plain["segments"]] == [(0.1, 0.9, " Good morning.")]
    assert "words" not in plain

    asked = {"response_format": "verbose_json", "timestamp_granularities[]": ["word", "segment"]}
    assert [each["word"] for each in send(client, **asked).json()["words"]] == [" Good", " morning."]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("text", "Good morning.\n"),
        ("srt", "1\n00:00:00,100 --> 00:00:00,900\nGood morning.\n"),
        ("vtt", "WEBVTT\n\n00:00:00.100 --> 00:00:00.900\nGood morning.\n"),
    ],
)
def test_it_also_comes_as_text_and_as_subtitles(client, kind, text):
    reply = send(client, response_format=kind)
    assert reply.headers["content-type"].startswith("text/plain")
    assert reply.text.strip() == text.strip()


def test_what_the_request_says_reaches_the_model(client, recorder, monkeypatch):
    monkeypatch.setattr(app_module.os, "cpu_count", lambda: 8)
    send(client, language="EN", prompt="Kari, Ola", temperature="0.4", threads="2", model="whisper-1")
    ((samples, asked),) = recorder.asked
    assert samples == 16_000
    assert (asked.language, asked.prompt, asked.temperature, asked.threads) == ("en", "Kari, Ola", 0.4, 2)


def test_more_threads_than_there_are_processors_are_as_many_as_there_are(client, recorder, monkeypatch):
    monkeypatch.setattr(app_module.os, "cpu_count", lambda: 4)
    send(client, threads="64")
    assert recorder.asked[0][1].threads == 4


@pytest.mark.parametrize(
    ("fields", "param", "said"),
    [
        ({"response_format": "xml"}, "response_format", "verbose_json"),
        ({"language": "no"}, "language", "English alone"),
        ({"temperature": "hot"}, "temperature", "from 0 to 1"),
        ({"temperature": "nan"}, "temperature", "from 0 to 1"),
        ({"threads": "-1"}, "threads", "from 0"),
        ({"stream": "true"}, "stream", "not as a stream"),
    ],
)
def test_a_field_that_cannot_be_is_refused_by_its_name(client, fields, param, said):
    reply = send(client, **fields)
    error = reply.json()["error"]
    assert (reply.status_code, error["type"], error["param"]) == (400, "invalid_request_error", param)
    assert said in error["message"]


def test_a_language_that_whisper_does_not_know_is_refused_by_a_model_of_many():
    client = TestClient(application(Recorder(multilingual=True)))
    assert send(client, language="no").status_code == 200
    assert "none that Whisper knows" in send(client, language="klingon").json()["error"]["message"]


def test_another_model_than_the_one_that_is_served_is_not_found(client):
    reply = send(client, model="large-v3")
    assert reply.status_code == 404
    assert reply.json()["error"]["code"] == "model_not_found"
    assert "whisper-tiny.en" in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    ("content", "said"), [(b"", "is empty"), (b"this is no sound at all", "no sound that ffmpeg can decode")]
)
def test_a_file_without_sound_is_refused_under_the_name_that_it_was_sent_with(client, content, said):
    reply = send(client, content, name="notes.txt")
    assert reply.status_code == 400
    assert said in reply.json()["error"]["message"]
    assert "notes.txt" in reply.json()["error"]["message"]
    assert "/tmp" not in reply.text


def test_a_form_without_a_file_and_a_body_that_is_no_form_are_refused(client):
    assert "file is missing" in client.post(ROUTE, data={"model": "whisper-1"}).json()["error"]["message"]
    assert "file is missing" in client.post(ROUTE, json={"file": "x"}).json()["error"]["message"]
    broken = client.post(ROUTE, content=b"--x\r\n", headers={"content-type": "multipart/form-data; boundary=y"})
    assert broken.status_code == 400


def test_more_sound_than_a_request_may_have_is_refused(client, monkeypatch):
    monkeypatch.setattr(app_module, "LONGEST", 0.5)
    reply = send(client)
    assert reply.status_code == 413
    assert "in pieces" in reply.json()["error"]["message"]


def test_so_are_more_bytes_before_they_are_read_and_a_body_of_unknown_length(client, monkeypatch):
    monkeypatch.setattr(app_module, "LARGEST", 1000)
    assert send(client).status_code == 413
    assert client.post(ROUTE, content=iter([b"x"])).status_code == 411


def test_a_server_with_a_key_asks_for_it():
    client = TestClient(application(Recorder(), key="søtt"))
    assert send(client).status_code == 401
    assert client.get("/v1/models", headers={"Authorization": "Bearer nothing"}).status_code == 401
    given = {"Authorization": "Bearer søtt".encode()}
    assert client.get("/v1/models", headers=given).status_code == 200
    assert client.get("/health").status_code == 200


def test_what_is_served_and_how_it_is_are_told(client):
    assert [each["id"] for each in client.get("/v1/models").json()["data"]] == ["whisper-tiny.en"]
    told = client.get("/health").json()
    assert told == {"status": "ok", "model": "whisper-tiny.en", "threads": 0, "answering": 0}
    assert client.get("/").status_code == 404
    assert client.get(ROUTE).status_code == 405
    assert "POST" in client.get("/v2").json()["error"]["message"]


@pytest.mark.anyio
async def test_whoever_comes_when_the_line_is_full_is_told_when_to_come_again():
    line, free = Line(), threading.Event()

    async def there():
        return False

    waiting = [asyncio.ensure_future(line.answer(lambda stop: free.wait(30), there)) for _ in range(WAITING + 1)]
    await asyncio.sleep(0)
    with pytest.raises(Full) as refused:
        await line.answer(lambda stop: None, there)
    assert refused.value.retry_after == 10 * (WAITING + 1)
    free.set()
    assert await asyncio.gather(*waiting) == [True] * (WAITING + 1)
    assert line.taken == 0


@pytest.mark.anyio
async def test_work_for_somebody_who_has_gone_is_stopped():
    line = Line()

    def until_stopped(stop):
        assert stop.wait(30)
        raise Stopped

    async def gone():
        return True

    with pytest.raises(Stopped):
        await line.answer(until_stopped, gone)
    assert line.taken == 0


def test_a_full_line_is_503_with_retry_after(recorder, monkeypatch):
    async def full(self, work, gone):
        raise Full(90)

    monkeypatch.setattr(Line, "answer", full)
    reply = send(TestClient(application(recorder)))
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "90")
    assert reply.json()["error"]["code"] == "server_busy"


@pytest.fixture
def anyio_backend():
    return "asyncio"
