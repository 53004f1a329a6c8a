"""One call to a model: chosen, priced, written down, sent, judged, written down again, and checked.

    answer = complete(prompt("summary", load(__package__, "summary.md"), document=text), schema=SUMMARY)

One claim is one call. Nothing is tried again in here and no other model is asked instead; what is raised says to the
queue what is to happen (jobbko.errors), and what it cost is in the ledger whatever comes of the answer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

from jobbko import clients, settings
from jobbko.ai import answers, prices, usage, wire
from jobbko.ai.bodies import storable
from jobbko.ai.cleaning import plain, plain_all
from jobbko.ai.gateways import Choice, Gateway, gateway_for
from jobbko.ai.prompts import Prompt
from jobbko.ai.verdicts import NEVER_SENT, Verdict, error_for, judge
from jobbko.clients import anthropic, claude, openai
from jobbko.clients.reply import Reply
from jobbko.errors import Charged, GateClosed, GateFoundClosed
from jobbko.store import ledger
from jobbko.store.ledger import Call, Outcome, Tokens
from jobbko.store.queue import DEFAULT_COLLECTION

#: Texts that one request for vectors may carry.
MOST_TEXTS = 256


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a call is made: the job that runs, or nobody (a person at the command line)."""

    job_id: str | None = None
    job_type: str = ""
    attempt: int = 1
    collection: str = DEFAULT_COLLECTION


#: Filled by broker.py, which knows of jobs.
caller: Callable[[], Caller] = Caller


@dataclass(frozen=True, slots=True)
class Answer:
    """text: cleaned; data: what fits the schema, if one was given; run: the row in the ledger."""

    text: str
    data: Any
    run: str
    model: str
    tokens: Tokens
    cost_usd: Decimal = field(default=Decimal(0))


def complete(
    prompt: Prompt,
    schema: wire.Schema | None = None,
    images: Sequence[wire.Image] = (),
    *,
    max_tokens: int = 2000,
    wanted: Choice | None = None,
) -> Answer:
    """Ask once. wanted: another gateway or model than the collection's metadata (`ai_gateway`, `ai_model`) or the
    configuration names.

    Raises Throttled, GateClosed (free of charge; the gateway's gate is `llm:<name>`, the budget's `budget`), or
    Charged: invalid, timeout, content, image, internal.
    """
    who = caller()
    gateway, model = gateway_for(who.job_type, wanted or Choice(*ledger.wanted(who.collection)))
    asked = wire.Asked(model, prompt, schema, tuple(images), max_tokens)
    _check_length(gateway, asked)
    run, estimate = _reserved(who, gateway, asked, Tokens(input=asked.most_input_tokens(), output=max_tokens))
    with _unless_closed(run):
        reply = _sent(gateway, asked)
    tokens, spent = _settled(run, gateway, model, reply, judge(reply), estimate)
    text = plain(wire.text_of(reply))
    try:
        data = None if schema is None else answers.data(text, schema)
    except Charged as error:
        cut = " (it was cut off at max_tokens)" if wire.finish_of(reply) in ("length", "max_tokens") else ""
        ledger.refuse(run, error.kind, f"{error}{cut}")
        raise Charged(error.kind, f"{error}{cut}") from error
    return Answer(text, data, run, usage.served(reply) or model, tokens, spent)


def _check_length(gateway: Gateway, asked: wire.Asked) -> None:
    """Bytes are an upper bound of tokens, and a quarter of them a lower one of what any tokenizer makes of prose."""
    needed = asked.most_input_tokens() // 4 + asked.max_tokens
    if gateway.context and needed > gateway.context:
        raise Charged(
            "invalid",
            f"prompt and answer need at least {needed} tokens, and {asked.model} takes {gateway.context}: cut the text",
        )


def _reserved(who: Caller, gateway: Gateway, asked: wire.Asked, most: Tokens) -> tuple[str, Decimal]:
    """The ledger's row for the call, and what it may cost at most. GateClosed if the budget has no room for it."""
    estimate = prices.cost(gateway, asked.model, most)
    return _written(who, gateway, asked.model, "complete", asked.prompt.name, asked.written_down(), estimate), estimate


def _written(
    who: Caller, gateway: Gateway, model: str, operation: str, prompt: str, request: dict[str, Any], most: Decimal
) -> str:
    gateway.secret()  # before anything is written: no key, no call
    if most > 0:
        for scope in ("budget", f"budget:{who.collection}"):
            clients.permit(scope)
    call = Call(
        id=str(uuid4()),
        collection_node_id=who.collection,
        job_id=who.job_id,
        job_type=who.job_type,
        attempt=who.attempt,
        gateway=gateway.name,
        backend=gateway.backend,
        operation=operation,
        model=model,
        prompt=prompt,
        request=plain_all(request),
        reserved_usd=most,
    )
    if (exceeded := ledger.reserve(call, settings.BUDGET_DAY_USD)) is not None:
        gate = "budget" if exceeded == "all" else f"budget:{exceeded}"
        raise GateClosed(gate, "budget", _tomorrow(), f"the call may cost ${most:.4f}, and the day's budget is spent")
    return call.id


def _tomorrow() -> datetime:
    return datetime.combine(datetime.now(UTC).date() + timedelta(days=1), time(), UTC)


def _sent(gateway: Gateway, asked: wire.Asked) -> Reply:
    key = gateway.secret()
    match gateway.backend:
        case "gateway":
            body = wire.chat_body(gateway, asked)
            return openai.chat(
                gateway.url, key, body, service=gateway.gate, provider=gateway.provider, timeout=gateway.timeout
            )
        case "anthropic":
            body = wire.message_body(asked)
            return anthropic.messages(gateway.url, key, body, service=gateway.gate, timeout=gateway.timeout)
        case "cli":
            if asked.images:
                raise Charged("image", f"{gateway.name} is the command line, which takes no pictures")
            said, schema = asked.prompt, None if asked.schema is None else wire.wired(asked.schema)
            return claude.ask(
                asked.model, said.system, said.text, schema, service=gateway.gate, timeout=gateway.timeout
            )


@contextlib.contextmanager
def _unless_closed(run: str) -> Iterator[None]:
    """Where the gate turns out to be closed nobody is asked: what was reserved is free again at once."""
    try:
        yield
    except GateFoundClosed as error:
        nothing = Tokens()
        ledger.settle(
            run, Outcome(error.kind, str(error), None, None, None, None, None, nothing, Decimal(0), "provider")
        )
        raise


def _settled(
    run: str, gateway: Gateway, model: str, reply: Reply, verdict: Verdict | None, estimate: Decimal
) -> tuple[Tokens, Decimal]:
    """What came of it goes into the ledger before anybody looks into the answer; then a failure is raised."""
    tokens, (spent, source) = usage.tokens(reply), _spent(gateway, model, reply, verdict, estimate)
    ledger.settle(
        run,
        Outcome(
            failure=None if verdict is None else verdict.kind,
            message=None if verdict is None else verdict.message,
            response=storable(reply.body, [gateway.secret()]),
            http_status=reply.status,
            provider_request_id=reply.headers.get("request-id") or reply.headers.get("x-request-id"),
            model_served=usage.served(reply),
            finish_reason=wire.finish_of(reply),
            tokens=tokens,
            cost_usd=spent,
            cost_source=source,
        ),
    )
    if verdict is not None:
        raise error_for(verdict, gateway.gate)
    return tokens, spent


def _spent(
    gateway: Gateway, model: str, reply: Reply, verdict: Verdict | None, estimate: Decimal
) -> tuple[Decimal, str]:
    """Dollars, and who says so: the provider, the price table, or, where an answer may have been paid for, we."""
    if gateway.free:
        return Decimal(0), "free"
    if (said := usage.money(reply)) is not None:
        return said, "provider"
    tokens = usage.tokens(reply)
    if tokens.input is not None and tokens.output is not None:
        return prices.cost(gateway, model, tokens), "table"
    # An error that the provider answered with is not billed; no answer, or one without figures, may be.
    if verdict is not None and reply.status is not None and reply.status >= 400:
        return Decimal(0), "provider"
    # A connection that broke afterwards is another matter: whoever was at work on the answer may bill it.
    if verdict is not None and (isinstance(reply.error, NEVER_SENT) or (verdict.kind == "outage" and not reply.error)):
        return Decimal(0), "provider"
    return estimate, "estimate"


def embedding_model(*, wanted: Choice | None = None) -> str:
    """The name of the model that `embed` will ask, by which its vectors are told from others'."""
    return _embedder(caller(), wanted)[1]


def _embedder(who: Caller, wanted: Choice | None) -> tuple[Gateway, str]:
    gateway, model = gateway_for(who.job_type, wanted or Choice(gateway=ledger.wanted(who.collection)[0]))
    return gateway, (wanted and wanted.model) or gateway.embedding_model or model


def embed(texts: Sequence[str], *, wanted: Choice | None = None) -> tuple[str, list[list[float]]]:
    """A vector for each text, in their order, and the model that made them.

    Raises ValueError for no text, an empty one or too many; what `complete` raises; Charged("invalid") for vectors that
    are not as many, as long as each other, or finite.
    """
    from jobbko.ai import vectors

    if not texts or len(texts) > MOST_TEXTS or not all(text.strip() for text in texts):
        raise ValueError(f"embed() takes 1 to {MOST_TEXTS} texts, none of them empty")
    who = caller()
    gateway, model = _embedder(who, wanted)
    most = Tokens(input=sum(len(text.encode()) + wire.AROUND for text in texts), output=0)
    estimate = prices.cost(gateway, model, most)
    request = {"texts": len(texts), "bytes": sum(len(text.encode()) for text in texts)}
    run = _written(who, gateway, model, "embed", "", request, estimate)
    body = {"model": model, "input": [plain(text) for text in texts]}
    with _unless_closed(run):
        reply = openai.embeddings(
            gateway.url,
            gateway.secret(),
            body,
            service=gateway.gate,
            provider=gateway.provider,
            timeout=gateway.timeout,
        )
    _settled(run, gateway, model, reply, judge(reply) if not vectors.there(reply) else None, estimate)
    try:
        return usage.served(reply) or model, vectors.of(reply, len(texts))
    except Charged as error:
        ledger.refuse(run, error.kind, str(error))
        raise
