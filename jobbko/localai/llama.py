"""llama.cpp's own HTTP server, inside this process, on a port that only this process may ask."""

from __future__ import annotations

import secrets
from http.client import HTTPConnection
from urllib.parse import urlsplit

from jobbko import settings
from jobbko.errors import UserError
from jobbko.localai.models import Model

#: Tokens of an answer if whoever asks does not say. A small model does not always find its end.
LONGEST = 1024
#: Above 1, what was just said becomes less likely: at temperature 0 a small model repeats itself for ever.
PENALTY = 1.1


class Llama:
    """UserError if the file cannot be loaded; llama.cpp has said why on stderr."""

    def __init__(self, model: Model) -> None:
        import xllamacpp

        self.model = model
        self._key = secrets.token_urlsafe(24)
        params = xllamacpp.CommonParams()
        params.model.path = str(model.path)
        params.model_alias = {model.name}
        params.n_ctx = int(settings.LOCAL_CONTEXT)
        params.n_parallel = 1  # one answer at a time, with the whole context; the others wait in its line
        params.n_predict = LONGEST
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = model.threads
        params.cache_ram_mib = 0  # else it keeps earlier prompts, up to 8 GB of them
        params.sampling.temp = 0.0  # the same answer to the same question
        params.sampling.penalty_repeat = PENALTY
        params.api_keys = [self._key]
        params.ui = params.endpoint_slots = False
        params.verbosity = 1
        try:
            self._server = xllamacpp.Server(params)
        except RuntimeError:
            raise UserError(f"llama.cpp cannot load {model.path}; it says why above.") from None
        self._address = urlsplit(self._server.listening_address).netloc

    def ask(self, content: bytes) -> HTTPConnection:
        """Send the body of a chat request; the answer is to be read from the connection. Closing it ends the work."""
        connection = HTTPConnection(self._address)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        connection.request("POST", "/v1/chat/completions", content, headers)
        return connection
