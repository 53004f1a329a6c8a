"""What a call costs: the provider's own word, else the table of `genai-prices`, with overrides from the configuration.

A price is dollars for a million tokens. One that is not known is no price of nothing: such a call is refused.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from jobbko.ai.gateways import Gateway, configuration
from jobbko.errors import GateClosed, UserError
from jobbko.store.ledger import Tokens

MILLION = Decimal(1_000_000)
#: No model costs as much for a million tokens; whoever writes more has mixed up thousands and millions.
ABSURD = 1000
KINDS = ("input", "cache_read", "cache_write", "output")


def cost(gateway: Gateway, model: str, tokens: Tokens) -> Decimal:
    """Dollars. GateClosed(…, "auth") if nobody knows what this model costs."""
    if gateway.free:
        return Decimal(0)
    if (own := configuration().prices.get(model)) is not None:
        return _by(own, model, tokens)
    from genai_prices import Usage, calc_price

    cached = (tokens.cache_read or 0) + (tokens.cache_write or 0)
    usage = Usage(
        input_tokens=(tokens.input or 0) + cached,  # there, the cached ones are a part of them
        cache_read_tokens=tokens.cache_read or 0,
        cache_write_tokens=tokens.cache_write or 0,
        output_tokens=tokens.output or 0,
    )
    try:
        found: Any = calc_price(usage, model_ref=model, provider_id=_provider(gateway))
    except LookupError:
        raise GateClosed(
            gateway.gate,
            "auth",
            message=f"nobody knows what {model} costs: give its price under [prices] in JOBBKO_AI_CONFIG, or say that "
            f"{gateway.name} is free",
        ) from None
    return Decimal(found.total_price)


def _by(price: dict[str, float], model: str, tokens: Tokens) -> Decimal:
    total = Decimal(0)
    for name in price:
        if name not in (*KINDS, "call"):
            raise UserError(f'prices."{model}".{name} is no kind of token. Known: {", ".join(KINDS)}, call.')
        if not 0 <= price[name] <= ABSURD:
            raise UserError(f'prices."{model}".{name} = {price[name]} must be dollars for a million tokens.')
    for kind in KINDS:
        # What has no price of its own costs what it would outside a cache.
        each = price.get(kind, price.get("input", 0) if kind.startswith("cache") else 0)
        total += Decimal(str(each)) * (getattr(tokens, kind) or 0) / MILLION
    return total + Decimal(str(price.get("call", 0)))


def _provider(gateway: Gateway) -> str | None:
    """As genai-prices calls it; None: by the model's name alone."""
    return gateway.provider if gateway.provider in ("openrouter", "anthropic") else None
