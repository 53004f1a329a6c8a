"""Where models are: the gateways of the configuration, and which of them a job calls.

One gateway is set with JOBBKO_AI_URL, JOBBKO_AI_KEY and JOBBKO_AI_MODEL. Several, and who uses which, are in a TOML
file that JOBBKO_AI_CONFIG names; keys stay out of it, in the variables that it names:

    [gateways.openrouter]
    url = "https://openrouter.ai/api/v1"
    key = "OPENROUTER_KEY"                    # the name of an environment variable
    provider = "openrouter"
    model = "openai/gpt-4o-mini"

    [gateways.local]
    url = "http://127.0.0.1:8080/v1"
    model = "smollm2"
    free = true

    [jobs.photo_ingest]
    gateway = "openrouter"
    model = "anthropic/claude-haiku-4.5"

    [prices."my-model"]
    input = 0.10                              # dollars for a million tokens; also cache_read, cache_write, output
    output = 0.40
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, get_args

from jobbko import settings
from jobbko.errors import GateClosed, UserError

Backend = Literal["gateway", "anthropic", "cli"]
Answers = Literal["json_schema", "json_object", "plain"]


@dataclass(frozen=True, slots=True)
class Gateway:
    """One place that answers. Its capabilities are settings: they are asked of nobody, and tried with nobody."""

    name: str
    backend: Backend = "gateway"
    url: str = ""
    #: The environment variable with the key; "" for none.
    key: str = ""
    #: How its errors and its prices are read: "openai" for whatever is compatible, "openrouter", "anthropic".
    provider: str = "openai"
    model: str = ""
    embedding_model: str = ""
    #: How it is told what the answer must look like.
    answers: Answers = "json_schema"
    token_parameter: str = "max_tokens"
    #: Tokens of prompt and answer together that its model takes; 0: not known.
    context: int = 0
    #: Its models cost nothing, and no budget holds them up.
    free: bool = False
    #: Seconds that an answer may take.
    timeout: float = 300

    @property
    def gate(self) -> str:
        return f"llm:{self.name}"

    def secret(self) -> str:
        """GateClosed if the variable that holds the key is empty: nobody is asked without one."""
        if not self.key:
            return ""
        if not (found := os.environ.get(self.key, "")):
            raise GateClosed(self.gate, "auth", message=f"{self.key} is not set; it holds the key for {self.name}")
        return found


@dataclass(frozen=True, slots=True)
class Choice:
    """What a job type, or a collection, wants."""

    gateway: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Configuration:
    gateways: dict[str, Gateway] = field(default_factory=dict)
    jobs: dict[str, Choice] = field(default_factory=dict)
    prices: dict[str, dict[str, float]] = field(default_factory=dict)


def gateway_for(job_type: str, wanted: Choice | None = None) -> tuple[Gateway, str]:
    """The gateway and the model: as the collection wants it, else as the job type is set, else the first gateway's own.

    GateClosed("llm", "auth") if there is none, or none of that name: the queue's configuration is wrong, not the job.
    """
    known = configuration()
    of_job = known.jobs.get(job_type, Choice())
    name = (wanted and wanted.gateway) or of_job.gateway or next(iter(known.gateways), "")
    if (gateway := known.gateways.get(name)) is None:
        said = f"there is no gateway {name}" if name else "no gateway to a model is configured; see JOBBKO_AI_URL"
        raise GateClosed("llm", "auth", message=f"{job_type or 'a call'}: {said}")
    return gateway, (wanted and wanted.model) or of_job.model or gateway.model


@cache
def configuration() -> Configuration:
    """UserError for a file that cannot be read, an unknown name in it, or a value of the wrong kind."""
    said = _read(settings.AI_CONFIG) if settings.AI_CONFIG else {}
    gateways = {name: _gateway(name, given) for name, given in _table(said, "gateways").items()}
    if settings.AI_URL or settings.AI_BACKEND != "gateway":
        simple: dict[str, Any] = {"url": settings.AI_URL, "backend": settings.AI_BACKEND, "model": settings.AI_MODEL}
        simple |= {"embedding_model": settings.AI_EMBEDDING_MODEL, "free": settings.AI_FREE}
        simple |= {"key": "JOBBKO_AI_KEY" if os.environ.get("JOBBKO_AI_KEY") else "", "provider": _provider()}
        gateways = {"default": _gateway("default", simple)} | gateways
    jobs = {name: _made(Choice, f"jobs.{name}", given) for name, given in _table(said, "jobs").items()}
    return Configuration(gateways, jobs, _table(said, "prices"))


def _provider() -> str:
    if settings.AI_BACKEND == "anthropic":
        return "anthropic"
    return "openrouter" if "openrouter.ai" in settings.AI_URL else "openai"


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"JOBBKO_AI_CONFIG={path}: {error}") from None


def _table(said: dict[str, Any], name: str) -> dict[str, Any]:
    found = said.get(name, {})
    if not isinstance(found, dict) or not all(isinstance(each, dict) for each in found.values()):
        raise UserError(f"JOBBKO_AI_CONFIG: [{name}.…] must be tables")
    return found


def _gateway(name: str, given: dict[str, Any]) -> Gateway:
    gateway: Gateway = _made(Gateway, f"gateways.{name}", {**given, "name": name})
    if gateway.backend not in get_args(Backend) or gateway.answers not in get_args(Answers):
        raise UserError(
            f"gateways.{name}: backend is one of {', '.join(get_args(Backend))}, "
            f"answers one of {', '.join(get_args(Answers))}."
        )
    if gateway.backend == "gateway" and not gateway.url.startswith(("http://", "https://")):
        raise UserError(f"gateways.{name}: url must be the address of an OpenAI-compatible server, up to its /v1.")
    return gateway


def _made(kind: type[Any], where: str, given: dict[str, Any]) -> Any:
    known = {each.name: type(each.default) for each in fields(kind) if each.name != "name"}
    for name, value in given.items():
        if name == "name":
            continue
        if name not in known:
            raise UserError(f"{where}.{name} is no setting. Known: {', '.join(known)}.")
        wanted = (int, float) if known[name] is float else known[name]
        if not isinstance(value, wanted):
            raise UserError(f"{where}.{name} = {value!r} must be of the kind {known[name].__name__}.")
    return kind(**given)
