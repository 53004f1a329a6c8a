"""A recording becomes segments with times, piece by piece; what has been heard is never sent again."""

from __future__ import annotations

import email.parser
import email.policy
import io
import itertools
import wave

import httpx
import numpy
import pytest

from actors.knowledge.whisper_transcribe import whisper_transcribe
from jobbko import clients, settings, store
from jobbko.ai import hearing
from jobbko.ai.hearing import Governor
from jobbko.audio import sound
from jobbko.audio.sound import RATE
from jobbko.errors import Charged, GateClosed, Missing, Permanent, Throttled
from jobbko.store import transcripts
from tests.actors.knowledge.writing import collection_node

URL = "http://whisper.test:8000/v1"


class Server(httpx.BaseTransport):
    """Hears one segment in each piece, a second long, half a second after its beginning; `fails` comes first."""

    def __init__(self):
        self.asked, self.fails, self.urls = [], [], []

    def handle_request(self, request):
        fields = form(request)
        with wave.open(io.BytesIO(fields.pop("file")[0])) as piece:
            assert (piece.getframerate(), piece.getnchannels(), piece.getsampwidth()) == (RATE, 1, 2)
            seconds = piece.getnframes() / RATE
        self.asked.append(
            (round(seconds, 2), {name: [each.decode() for each in said] for name, said in fields.items()})
        )
        self.urls.append(str(request.url))
        if self.fails:
            return self.fails.pop(0)
        number = len(self.asked)
        return httpx.Response(
            200,
            json={
                "text": f" Piece {number}.",
                "duration": seconds,
                "segments": [{"start": 0.5, "end": 1.5, "text": f" Piece {number}."}],
            },
        )


def form(request):
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + request.read())
    fields = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        fields.setdefault(name, []).append(part.get_payload(decode=True))
    return fields


@pytest.fixture
def whisper(database, monkeypatch):
    running = Server()
    monkeypatch.setattr(clients, "transport", running)
    monkeypatch.setattr(settings, "WHISPER_URL", URL)
    monkeypatch.setattr(settings, "WHISPER_PIECE", 10)
    return running


@pytest.fixture
def audio(tmp_path):
    """25 s, quiet at 9.5 s and 19 s."""
    dice = numpy.random.default_rng(1)
    samples = (dice.uniform(-1, 1, 25 * RATE) * 9000).astype("<i2")
    for at in (9.5, 19):
        samples[int((at - 0.2) * RATE) : int((at + 0.2) * RATE)] = 0
    path = tmp_path / "talk.wav"
    path.write_bytes(sound.wav(samples))
    return str(path)


@pytest.fixture
def media(database):
    return store.value(
        "insert into nodes (collection_node_id, kind) values (%(of)s, 'media') returning id",
        of=collection_node(names=["Kari Nord", "Askøy"]),
    )


def said(media):
    return [(each.start_ms, each.end_ms, each.text) for each in transcripts.segments(media)]


def test_the_pieces_are_sent_in_order_and_their_times_are_those_of_the_recording(whisper, audio, media):
    result = whisper_transcribe(audio, media)

    assert [seconds for seconds, _ in whisper.asked] == pytest.approx([9.5, 9.5, 6], abs=0.1)
    starts = [start for start, _, _ in said(media)]
    assert starts == pytest.approx([500, 10_000, 19_500], abs=100)
    assert [text for _, _, text in said(media)] == ["Piece 1.", "Piece 2.", "Piece 3."]
    assert result == {
        "media_node_id": media,
        "kind": "media",
        "new": True,
        "segments": 3,
        "pieces": 3,
        "duration_ms": 25_000,
    }
    assert store.value("select count(*) from heard_piece") == 0
    assert transcripts.current(media).source == "whisper"


def test_a_request_says_what_servers_have_to_be_told(whisper, audio, media, monkeypatch):
    monkeypatch.setattr(settings, "WHISPER_MODEL", "large-v3")
    whisper_transcribe(audio, media, "NO")
    _, fields = whisper.asked[0]

    assert whisper.urls[0] == f"{URL}/audio/transcriptions"
    assert fields == {
        "model": ["large-v3"],
        "response_format": ["verbose_json"],
        "temperature": ["0"],
        "timestamp_granularities[]": ["word", "segment"],
        "without_timestamps": ["false"],
        "language": ["no"],
        "prompt": ["Kari Nord, Askøy"],
    }


def test_the_same_recording_again_is_not_sent_again_and_makes_no_version(whisper, audio, media):
    whisper_transcribe(audio, media)
    again = whisper_transcribe(audio, media)

    assert again["new"] is False
    assert len(whisper.asked) == 3
    assert store.value("select count(*) from transcriptions") == 1


def test_another_language_is_another_question_and_the_old_version_is_kept(whisper, audio, media):
    whisper_transcribe(audio, media)
    assert whisper_transcribe(audio, media, "no")["new"] is True
    assert store.rows("select version, current, language from transcriptions order by version") == [
        (1, False, ""),
        (2, True, "no"),
    ]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (httpx.Response(503, json={"detail": "busy"}), Throttled),
        (httpx.Response(404, json={"detail": "Model 'x' is not installed locally."}), GateClosed),
        (httpx.Response(500, json={"detail": "Failed to decode audio."}), Charged),
    ],
)
def test_a_failure_on_the_way_loses_no_piece_that_was_heard(whisper, audio, media, answer, error):
    whisper.fails = [httpx.Response(200, json={"text": "First."}), answer]
    with pytest.raises(error):
        whisper_transcribe(audio, media)
    assert said(media) == []

    whisper_transcribe(audio, media)

    assert [seconds for seconds, _ in whisper.asked] == pytest.approx([9.5, 9.5, 9.5, 6], abs=0.1)
    assert [text for _, _, text in said(media)] == ["First.", "Piece 3.", "Piece 4."]


def test_what_was_heard_for_one_collection_is_not_told_to_another(whisper, audio, media):
    whisper.fails = [httpx.Response(200, json={"text": "First."}), httpx.Response(503)]
    with pytest.raises(Throttled):
        whisper_transcribe(audio, media)
    other = store.value(
        "insert into nodes (collection_node_id, kind) values (%(of)s, 'media') returning id",
        of=collection_node(names=["Kari Nord", "Askøy"]),
    )
    whisper_transcribe(audio, other)
    assert len(whisper.asked) == 2 + 3


def test_without_a_node_the_recording_is_known_by_its_path(whisper, audio):
    first, second = (whisper_transcribe(audio) for _ in range(2))

    assert first["media_node_id"] == second["media_node_id"]
    assert second["new"] is False


def test_silence_is_a_transcript_without_segments(whisper, audio, media):
    whisper.fails = [httpx.Response(200, json={"text": "", "segments": []}) for _ in range(3)]
    assert whisper_transcribe(audio, media)["segments"] == 0
    assert transcripts.current(media).version == 1


def test_nothing_configured_holds_the_job_instead_of_failing_it(whisper, audio, media, monkeypatch):
    monkeypatch.setattr(settings, "WHISPER_URL", "")
    with pytest.raises(GateClosed, match="JOBBKO_WHISPER_URL") as closed:
        whisper_transcribe(audio, media)
    assert (closed.value.gate, closed.value.reason) == ("whisper", "auth")


@pytest.mark.parametrize("language", ["norwegian", "n", "nb-NO", "12", "../x"])
def test_a_language_that_is_none_is_named(whisper, audio, media, language):
    with pytest.raises(Charged, match="language"):
        whisper_transcribe(audio, media, language)


def test_a_file_outside_of_the_allowed_folders_is_not_read(whisper, audio, media, monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "MEDIA_ROOTS", (tmp_path / "elsewhere",))
    with pytest.raises(Permanent, match="JOBBKO_MEDIA_ROOTS"):
        whisper_transcribe(audio, media)
    assert whisper.asked == []


def test_a_file_that_is_gone_is_nothing_to_do(whisper, media):
    with pytest.raises(Missing):
        whisper_transcribe("/nowhere/talk.mp3", media)


def test_while_somebody_is_in_a_call_each_piece_asks_for_two_threads(whisper, audio, media, monkeypatch):
    calls = itertools.cycle([False, True, False])
    governor = Governor()
    monkeypatch.setattr(governor, "low", lambda: next(calls))
    monkeypatch.setattr(hearing, "governor", governor)
    whisper_transcribe(audio, media)

    assert [fields.get("threads") for _, fields in whisper.asked] == [None, ["2"], None]


def test_a_second_server_takes_over_during_a_call_where_there_is_one(whisper, audio, media, monkeypatch):
    monkeypatch.setattr(settings, "GOVERNOR", "low")
    monkeypatch.setattr(settings, "WHISPER_LOW_URL", "http://slow.test/v1/")
    whisper_transcribe(audio, media)

    assert {*whisper.urls} == {"http://slow.test/v1/audio/transcriptions"}
    assert all("threads" not in fields for _, fields in whisper.asked)
