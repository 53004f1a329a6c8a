"""The ledger of model calls: a row for each, written before it is sent; the day's budget; what was spent on what.

Money is US dollars, as Decimal with eight places; tokens are counted in four kinds that never overlap.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from jobbko import store
from jobbko.store.cleaning import Jsonb

sql = store.queries("ledger.sql")


@dataclass(frozen=True, slots=True)
class Call:
    """What is known before it is sent. reserved_usd: what it may cost at most; 0 for a free model."""

    id: str
    collection_node_id: str
    job_id: str | None
    job_type: str
    attempt: int
    gateway: str
    backend: str
    operation: str
    model: str
    prompt: str
    request: dict[str, Any]
    reserved_usd: Decimal


@dataclass(frozen=True, slots=True)
class Tokens:
    """Each token is in one of the four; None where the provider said nothing."""

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known once it is over. cost_usd: None while only the estimate is known."""

    failure: str | None
    message: str | None
    response: Any
    http_status: int | None
    provider_request_id: str | None
    model_served: str | None
    finish_reason: str | None
    tokens: Tokens
    cost_usd: Decimal | None
    cost_source: str


@dataclass(frozen=True, slots=True)
class Spent:
    """Today's money. scope: "all", or a collection."""

    scope: str
    reserved: float
    spent: float


@dataclass(frozen=True, slots=True)
class Spending:
    day: date
    job_type: str
    model: str
    calls: int
    failed: int
    input_tokens: int
    cache_tokens: int
    output_tokens: int
    cost_usd: float
    estimated_usd: float


def reserve(call: Call, limit: Decimal | None) -> str | None:
    """Write the call down, at once and for all to see; or the scope ("all" or the collection) whose limit forbids it.

    limit: dollars a day for everything; None is no limit, 0 is none to spend. A collection's own is in its metadata.
    """
    run = asdict(call) | {"reserved_usd": str(call.reserved_usd)}
    with store.using(None):  # whatever becomes of the caller's transaction, the call is written down
        collection_limit = store.value(sql["limits"], collection=call.collection_node_id)
        found = store.value(sql["reserve"], run=Jsonb(run), all_limit=limit, collection_limit=collection_limit)
    return None if found is None else str(found)


def wanted(collection: str) -> tuple[str, str]:
    """The gateway and the model that a collection's metadata names (`ai_gateway`, `ai_model`); "" for none."""
    found = store.rows(sql["wanted"], collection=collection)
    return (found[0][0], found[0][1]) if found else ("", "")


def settle(id: str, outcome: Outcome) -> None:
    """What came of it, before anybody looks into the answer."""
    with store.using(None):
        store.run(
            sql["settle"],
            id=id,
            state="ok" if outcome.failure is None else "failed",
            class_=outcome.failure,
            message=outcome.message,
            response=None if outcome.response is None else Jsonb(outcome.response),
            http_status=outcome.http_status,
            provider_request_id=outcome.provider_request_id,
            model_served=outcome.model_served,
            finish_reason=outcome.finish_reason,
            input_tokens=outcome.tokens.input,
            cache_read_tokens=outcome.tokens.cache_read,
            cache_write_tokens=outcome.tokens.cache_write,
            output_tokens=outcome.tokens.output,
            cost_usd=outcome.cost_usd,
            cost_source=outcome.cost_source,
        )


def refuse(id: str, failure: str, message: str) -> None:
    """The answer is not what was asked for; what it cost stays as it is."""
    with store.using(None):
        store.run(sql["refuse"], id=id, class_=failure, message=message)


def lose(*, longest: float, lease: float) -> int:
    """Calls whose end nobody will write any more become `unknown`, their estimate spent; how many."""
    return store.run(sql["lose"], longest=longest, lease=lease)


def spent() -> list[Spent]:
    return store.many(Spent, sql["spent"])


def spending(days: int) -> list[Spending]:
    """The last so many UTC days, by day, job type and model."""
    return store.many(Spending, sql["spending"], days=days)


def forget_bodies(age: float) -> int:
    """Requests and answers that are older than so many seconds; their figures stay. How many went this time."""
    return store.run(sql["forget_bodies"], age=age)
