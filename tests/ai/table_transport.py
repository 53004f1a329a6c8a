"""No answer: whether the request had been sent decides. https://www.python-httpx.org/exceptions/ and llm.md 2.0."""

from __future__ import annotations

import httpx

from jobbko.errors import Charged
from tests.ai.rows import Row

CERTIFICATE = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate"


def raised(what: str, error: Exception, kind: str, **more: object) -> Row:
    return Row(f"raised: {what}", "openai", None, None, kind, error=error, **more)


ROWS = [
    raised(
        "no such host", httpx.ConnectError("[Errno -2] Name or service not known"), "outage", says="Name or service"
    ),
    raised("refused", httpx.ConnectError("[Errno 111] Connection refused"), "outage"),
    raised("a certificate", httpx.ConnectError(CERTIFICATE), "outage", says="self-signed"),
    raised("no connection in time", httpx.ConnectTimeout("timed out"), "outage"),
    raised("no place in the pool", httpx.PoolTimeout(""), "outage", says="PoolTimeout"),
    raised("a proxy", httpx.ProxyError("503 Service Unavailable"), "outage"),
    raised("gone before the first byte", httpx.RemoteProtocolError("Server disconnected without sending"), "outage"),
    # karakeep #1310: Ollama crashed in the middle of an answer.
    raised(
        "gone in the middle", httpx.RemoteProtocolError("peer closed connection, incomplete chunked read"), "outage"
    ),
    raised("reset while reading", httpx.ReadError("[Errno 104] Connection reset by peer"), "outage"),
    raised("reset while writing", httpx.WriteError("[Errno 32] Broken pipe"), "outage"),
    raised("reset, bare", ConnectionResetError(104, "Connection reset by peer"), "outage"),
    # The request was sent: somebody may have to pay for it.
    raised("no answer in time", httpx.ReadTimeout("The read operation timed out"), "timeout"),
    raised("not sent in time", httpx.WriteTimeout("The write operation timed out"), "timeout"),
    # Settings that are wrong for every job.
    raised("no scheme", httpx.UnsupportedProtocol("Request URL is missing an 'http://' protocol"), "auth"),
    raised("no address", httpx.InvalidURL("Invalid port: 'x'"), "auth"),
    raised("round and round", httpx.TooManyRedirects("Exceeded maximum allowed redirects."), "auth"),
    raised("a key with a line break", httpx.LocalProtocolError("Illegal header value b'Bearer sk-1234\\n'"), "auth"),
    raised("no gzip", httpx.DecodingError("Error -3 while decompressing data"), "internal"),
    raised(
        "no end", Charged("content", "https://host sent more than 9 bytes"), "content", says="https://host sent more"
    ),
    raised("what no client may raise", Charged("crashed", "?"), "internal"),
    raised("a bug", KeyError("choices"), "internal"),
    Row("no answer and no reason", "openai", None, None, "internal", says="without a word"),
    Row("broke off with a status", "openai", 200, None, "outage", error=httpx.ReadError("reset")),
]
