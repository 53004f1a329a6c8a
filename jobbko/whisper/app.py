"""The routes: OpenAI's transcription API, as far as faster-whisper can answer it, with OpenAI's errors.

https://platform.openai.com/docs/api-reference/audio/createTranscription; `threads` is our own field, for whoever has to
leave the processor to something else.
"""

from __future__ import annotations

import hmac
import math
import os
import shutil
import tempfile
import threading
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as Asked
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from jobbko.audio import sound
from jobbko.errors import Charged
from jobbko.speech import heard, subtitles
from jobbko.speech.cues import cues
from jobbko.whisper.line import Full, Line
from jobbko.whisper.transcriber import Request, Stopped, Transcriber, Transcript

#: Bytes of a request, and seconds of the sound in it: half an hour of uncompressed stereo.
LARGEST = 512 * 1024 * 1024
LONGEST = 2 * 3600
#: Characters of a prompt that Whisper could use at all: it has 224 tokens for it.
PROMPT = 4000
FORMATS = ("json", "text", "srt", "verbose_json", "vtt")


class Refused(Exception):
    """An error as OpenAI words it. status: of HTTP; param: the field that is wrong."""

    def __init__(self, status: int, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.param, self.code = status, param, code


def application(transcriber: Transcriber, key: str = "") -> Starlette:
    """key: what a request must bring as its bearer token; "" for no such demand."""
    line = Line()

    async def transcriptions(asked: Asked) -> Response:
        _check_key(asked, key)
        _check_length(asked)
        async with asked.form(max_files=1, max_fields=50) as form:
            wanted, kind = _wanted(form, transcriber)
            upload = _upload(form)
            made = await line.answer(
                lambda stop: _transcribed(transcriber, upload, wanted, stop), gone=asked.is_disconnected
            )
        return _answer(made, kind, wanted)

    async def listed(asked: Asked) -> Response:
        _check_key(asked, key)
        model = {"id": transcriber.model.name, "object": "model", "created": 0, "owned_by": "local"}
        return JSONResponse({"object": "list", "data": [model]})

    async def health(asked: Asked) -> Response:
        return JSONResponse(
            {
                "status": "ok",
                "model": transcriber.model.name,
                "threads": transcriber.threads,
                "answering": line.taken,
            }
        )

    routes = [
        Route("/v1/audio/transcriptions", transcriptions, methods=["POST"]),
        Route("/v1/models", listed),
        Route("/health", health),
    ]
    handlers: Any = {Refused: _refused, Full: _full, HTTPException: _no_answer}
    handlers |= dict.fromkeys((Stopped, ClientDisconnect), _nobody_there)
    return Starlette(routes=routes, exception_handlers=handlers)


def _check_key(asked: Asked, key: str) -> None:
    given = asked.headers.get("authorization", "").encode("latin-1", "replace")
    if key and not hmac.compare_digest(given, f"Bearer {key}".encode()):
        raise Refused(401, "the API key is missing or wrong", code="invalid_api_key")


def _check_length(asked: Asked) -> None:
    length = asked.headers.get("content-length", "")
    if not length.isdecimal():
        raise Refused(411, "a request needs a Content-Length")
    if int(length[:20]) > LARGEST:
        raise Refused(413, f"a request has at most {LARGEST} bytes; send the recording in pieces")


def _wanted(form: FormData, transcriber: Transcriber) -> tuple[Request, str]:
    model = _field(form, "model")
    if model not in ("", "whisper-1", transcriber.model.name):
        said = f"the model {model[:200]!r} is not served here, {transcriber.model.name!r} is"
        raise Refused(404, said, param="model", code="model_not_found")
    kind = _field(form, "response_format") or "json"
    if kind not in FORMATS:
        raise Refused(400, f"response_format {kind[:50]!r} is none of {', '.join(FORMATS)}", param="response_format")
    if _field(form, "stream").lower() in ("true", "1"):
        raise Refused(400, "this server answers whole, not as a stream", param="stream")
    return (
        Request(
            _language(_field(form, "language").lower(), transcriber),
            _field(form, "prompt")[-PROMPT:],
            _number(form, "temperature", 0, 1),
            "word" in form.getlist("timestamp_granularities[]"),
            int(_number(form, "threads", 0, os.cpu_count() or 1)),
        ),
        kind,
    )


def _field(form: FormData, name: str) -> str:
    given = form.get(name, "")
    if not isinstance(given, str):
        raise Refused(400, f"{name} must be text and not a file", param=name)
    return given.strip()


def _language(given: str, transcriber: Transcriber) -> str:
    known = transcriber.languages()
    if given and given not in known:
        said = f"language {given[:20]!r} is none that Whisper knows, such as no, en or de"
        if not transcriber.multilingual:
            said = f"{transcriber.model.name} hears English alone, and language is {given[:20]!r}; serve another model"
        raise Refused(400, said, param="language")
    return given


def _number(form: FormData, name: str, least: float, most: float) -> float:
    """threads above what the machine has are as many as it has; other numbers outside of the bounds are refused."""
    given = _field(form, name)
    try:
        number = float(given or 0)
    except ValueError:
        number = math.nan
    if name == "threads" and number > most:
        return most
    if not least <= number <= most:
        raise Refused(400, f"{name} {given[:50]!r} is no number from {least:g} to {most:g}", param=name)
    return number


def _upload(form: FormData) -> UploadFile:
    upload = form.get("file")
    if not isinstance(upload, UploadFile):
        raise Refused(400, "file is missing: the recording, as a file of the form", param="file")
    if not upload.size:
        raise Refused(400, f"{upload.filename or 'the file'} is empty", param="file")
    return upload


def _transcribed(transcriber: Transcriber, upload: UploadFile, wanted: Request, stop: threading.Event) -> Transcript:
    with tempfile.NamedTemporaryFile(prefix="jobbko-whisper-") as kept:  # ffmpeg seeks in it
        upload.file.seek(0)
        shutil.copyfileobj(upload.file, kept, 1024 * 1024)
        kept.flush()
        try:
            with sound.decoded(kept.name, upload=True) as recording:
                if len(recording.samples) > LONGEST * sound.RATE:
                    raise Refused(413, f"a request has at most {LONGEST} s of sound; send the recording in pieces")
                return transcriber.transcribe(recording.samples, wanted, stop)
        except Charged as error:
            said = str(error).replace(kept.name, upload.filename or "the file")
            raise Refused(400, said, param="file") from None


def _answer(made: Transcript, kind: str, wanted: Request) -> Response:
    match kind:
        case "text":
            return PlainTextResponse(made.text + "\n")
        case "json":
            return JSONResponse({"text": made.text})
        case "srt" | "vtt":
            body = {"segments": made.segments}
            written = (subtitles.srt if kind == "srt" else subtitles.vtt)(cues(heard.said(body, made.duration)))
            return PlainTextResponse(written)
    words = [word for each in made.segments for word in each.get("words", ())]
    whole = {
        "task": "transcribe",
        "language": made.language,
        "duration": made.duration,
        "text": made.text,
        "segments": made.segments,
    }
    return JSONResponse(whole | ({"words": words} if wanted.words else {}))


async def _refused(asked: Asked, error: Refused) -> Response:
    return _error(error.status, str(error), error.param, error.code)


async def _full(asked: Asked, error: Full) -> Response:
    response = _error(503, "too many recordings wait already", None, "server_busy", "server_error")
    response.headers["Retry-After"] = str(error.retry_after)
    return response


async def _no_answer(asked: Asked, error: HTTPException) -> Response:
    said = f"there is no {asked.method} {asked.url.path[:200]} here; POST /v1/audio/transcriptions is"
    if error.status_code == 400:
        said = f"the form cannot be read: {error.detail}"
    return _error(error.status_code, said, None, None)


async def _nobody_there(asked: Asked, error: Exception) -> Response:
    return Response(status_code=499)  # as nginx writes it down; nobody reads it


def _error(
    status: int, message: str, param: str | None, code: str | None, kind: str = "invalid_request_error"
) -> Response:
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return JSONResponse(body, status, headers={"Connection": "close"} if status in (411, 413) else None)
