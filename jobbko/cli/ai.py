"""`jobbko ai test`: one cheap call to each gateway, and what to do about what is wrong."""

from __future__ import annotations

import click

from jobbko.cli._output import as_json, print_json, say
from jobbko.errors import Charged, GateClosed, JobError, NothingMatched, Throttled, UserError

#: What to do, by what the call ended with.
REMEDIES = {
    "auth": "Check the key, the address and the model's name.",
    "credit": "Add credit, or raise the account's spending limit.",
    "budget": "Wait for 00:00 UTC, or raise JOBBKO_BUDGET_DAY_USD.",
    "outage": "Is the server running and reachable from here?",
    "timeout": "Raise the gateway's timeout, or take a smaller model.",
    "invalid": "Is `answers` of the gateway what the server understands (json_schema, json_object, plain)?",
}
SCHEMA = {
    "type": "object",
    "properties": {"capital": {"type": "string"}},
    "required": ["capital"],
    "additionalProperties": False,
}


@click.group()
def command() -> None:
    """Models: are they there, and do they answer?"""


@command.command()
@click.argument("gateway", required=False)
@as_json
def test(gateway: str | None, as_json: bool) -> None:
    """Ask GATEWAY, or all that are configured, for one short answer. It costs what it costs, and is in the ledger."""
    from jobbko.ai.gateways import configuration
    from jobbko.store.migrate import migrate

    known = list(configuration().gateways)
    if not known:
        raise UserError(
            "No gateway is configured. Set JOBBKO_AI_URL and JOBBKO_AI_MODEL, or JOBBKO_AI_CONFIG; "
            "jobbko local-ai serves one that needs no key."
        )
    if gateway is not None and gateway not in known:
        raise NothingMatched(f"There is no gateway {gateway}. Known: {', '.join(known)}.")
    migrate()
    results = [_asked(name) for name in ([gateway] if gateway else known)]
    if as_json:
        print_json({"gateways": results})
    else:
        for each in results:
            say(f"{each['gateway']}: {each['said']}" + (f"\n  {each['remedy']}" if each["remedy"] else ""))
    if not all(each["ok"] for each in results):
        raise SystemExit(1)


def _asked(name: str) -> dict[str, object]:
    from broker import broker  # noqa: F401  connects calls with gates
    from jobbko.ai.calls import complete
    from jobbko.ai.gateways import Choice
    from jobbko.ai.prompts import prompt

    question = prompt("test", "Which city is the capital of $country? Answer with its name.", country="Norway")
    try:
        answer = complete(question, SCHEMA, max_tokens=200, wanted=Choice(gateway=name))
    except JobError as error:
        return {"gateway": name, "ok": False, "said": str(error), "remedy": REMEDIES.get(_reason(error), "")}
    said = f"{answer.model} answers {answer.data['capital']!r} for ${answer.cost_usd:.6f}"
    return {"gateway": name, "ok": True, "said": said, "remedy": ""}


def _reason(error: JobError) -> str:
    match error:
        case GateClosed(reason=reason):
            return reason
        case Throttled():
            return "outage"
        case Charged(kind=kind):
            return kind
    return ""
