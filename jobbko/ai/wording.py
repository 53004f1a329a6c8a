"""What a person is told of a provider's answer: its own words, short, printable and without keys."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

#: Characters; what is longer is cut, for a queue is no place for a page of HTML.
LONGEST = 500
#: Characters that are looked at. Providers repeat the whole request in some errors (llama.cpp does).
_READ = 20_000
#: Shorter than this, it is no secret, and removing it would tear words apart.
_SHORTEST_SECRET = 4
_GONE = "***"

_TITLE = re.compile(r"<title[^>]*>([^<]*)</title>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")

#: What looks like a key, wherever it stands. OpenAI repeats the key it refuses, with stars in its middle.
_KEYS = re.compile(
    r"\bsk-[\w*.-]{3,}"  # OpenAI, Anthropic, OpenRouter, LiteLLM
    r"|\b(?:AIza|hf_|gsk_|xai-|pplx-|nvapi-)[\w-]{8,}"  # Google, Hugging Face, Groq, xAI, Perplexity, NVIDIA
    r"|\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?"  # a JSON web token
)
#: What stands where a key stands: `found` is replaced by its first group and three stars.
_PLACES = (
    re.compile(r"\b((?:bearer|basic)\s+)[\w.~+/=*-]{8,}", re.IGNORECASE),
    re.compile(r"(header value b?)(?:'[^']*'|\"[^\"]*\")", re.IGNORECASE),  # h11 names the header that it refuses
    re.compile(
        r"((?:x-api-key|api[-_ ]?key|authorization|access[-_]token|auth[-_]token|client[-_]secret|password)"
        r"(?: provided| received)?[\"']?\s*[:=]\s*[\"']?)(?:(?:bearer|basic)\s+)?[^\s\"',;&}]+",
        re.IGNORECASE,
    ),
    re.compile(r"([?&](?:key|api[-_]?key|token|access_token)=)[^&\s'\"]+", re.IGNORECASE),
    re.compile(r"(://)[^/\s:@]+:[^/\s@]+@"),
)


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """The text without these, and without anything that looks like a key."""
    for secret in sorted((each.strip() for each in secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, _GONE)
    for place in _PLACES:
        text = place.sub(rf"\g<1>{_GONE}", text)
    return _KEYS.sub(_GONE, text)


def told(text: str) -> str:
    """At most LONGEST characters that can be printed and stored, in one line."""
    clean = " ".join(without_secrets(_printable(readable(text[:_READ])), ()).split())
    if len(clean) <= LONGEST:
        return clean
    # Between two words, if there are any: half a key is more than nothing.
    cut = clean[: LONGEST - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def readable(text: str) -> str:
    """Of a page of HTML, which is what proxies send, its title."""
    if text.lstrip()[:1] != "<":
        return text
    title = _TITLE.search(text)
    return title[1] if title and title[1].strip() else _TAG.sub(" ", text)


def _printable(text: str) -> str:
    """Control characters, half surrogates and what turns the direction of writing become spaces."""
    return "".join(" " if unicodedata.category(each)[0] == "C" else each for each in text)
