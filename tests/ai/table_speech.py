"""Speech servers: speaches (src/speaches/dependencies.py, 870e1e1), whisper.cpp (examples/server, 233fe1f), OpenAI."""

from __future__ import annotations

from tests.ai.rows import openai
from tests.ai.table_openai import error

KEY = "API key required. Please provide an API key using the Authorization header with Bearer scheme."
#: ODS #1247
MODEL = "Model 'x' is not installed locally. You can download the model using `POST /v1/models`"
FIELD = {"type": "missing", "loc": ["body", "file"], "msg": "Field required", "input": {"prompt": "insufficient_quota"}}
CHOICE = {"type": "enum", "loc": ["body", "response_format"], "msg": "Input should be 'text' or 'json'", "input": "doc"}
CUES = "1\n00:00:00,000 --> 00:00:02,000\n Hei.\n"

ROWS = [
    openai("speaches: no key", 403, {"detail": KEY}, "auth", says="with Bearer scheme."),
    openai("speaches: a wrong key", 403, {"detail": "Invalid API key. The provided API key is incorrect."}, "auth"),
    openai("speaches: no such model", 404, {"detail": MODEL}, "auth", says="not installed"),
    openai("speaches: a wrong address", 404, {"detail": "Not Found"}, "auth"),
    openai(
        "speaches: no sound",
        415,
        {"detail": "Failed to decode audio. The provided file type is not supported."},
        "invalid",
    ),
    openai(
        "speaches: an empty file",
        400,
        {"detail": "Failed to decode audio. The provided file is likely empty."},
        "invalid",
    ),
    openai("speaches: a field is missing", 422, {"detail": [FIELD]}, "invalid", says="body.file: Field required"),
    openai("speaches: a wrong choice", 422, {"detail": [CHOICE]}, "invalid", says="body.response_format"),
    openai("speaches: it cannot", 500, {"detail": "Failed to decode audio."}, "internal"),
    openai("speaches: out of memory", 500, "Internal Server Error", "internal", says="Internal Server Error"),
    openai("speaches: not there", 502, "<html><title>502 Bad Gateway</title></html>", "outage"),
    openai("whisper.cpp: no file", 400, {"error": "no 'file' field in the request"}, "invalid"),
    openai("whisper.cpp: no sound", 400, {"error": "failed to read audio data"}, "invalid"),
    openai("whisper.cpp: ffmpeg", 500, {"error": "FFmpeg conversion failed."}, "internal", says="FFmpeg conversion"),
    openai("whisper.cpp: it cannot", 500, {"error": "failed to process audio"}, "internal"),
    openai("whisper.cpp: loading", 503, {"status": "loading model"}, "outage", says="loading model"),
    openai("whisper.cpp: we left", 499, {"error": "client disconnected"}, "internal"),
    openai("whisper.cpp: no such model", 400, {"error": "model not found!"}, "auth"),
    openai(
        "OpenAI: above 25 MB", 413, error("Maximum content size limit (26214400) exceeded", "server_error"), "invalid"
    ),
    openai(
        "OpenAI: no sound",
        400,
        error("Audio file might be corrupted or unsupported", "invalid_request_error"),
        "invalid",
    ),
    openai("a transcript", 200, {"text": "Hei."}, None),
    openai("a transcript of silence", 200, {"text": ""}, None),
    openai("a transcript in segments", 200, {"task": "transcribe", "duration": 2.0, "segments": []}, None),
    openai("subtitles", 200, CUES, None, headers={"Content-Type": "text/plain; charset=utf-8"}),
    openai("subtitles that say no type", 200, CUES, None),
    openai("subtitles of silence", 200, "", None, headers={"content-type": "text/plain"}),
    openai("subtitles for the web", 200, "WEBVTT\n\n", None),
]
