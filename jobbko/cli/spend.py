"""`jobbko spend`: what model calls have cost, by day, job type and model."""

from __future__ import annotations

import click
from rich.table import Table

from jobbko import settings
from jobbko.cli._output import as_json, console, print_json
from jobbko.store import ledger


@click.command()
@click.option("--days", default=7, show_default=True, type=click.IntRange(1, 3660), help="UTC days, with today.")
@as_json
def command(days: int, as_json: bool) -> None:
    """Show what model calls have cost, and what is left of today's budget (JOBBKO_BUDGET_DAY_USD)."""
    listed, today = ledger.spending(days), {each.scope: each for each in ledger.spent()}
    taken = today["all"].spent + today["all"].reserved if "all" in today else 0.0
    limit = settings.BUDGET_DAY_USD
    if as_json:
        print_json({"today": list(today.values()), "limit": limit and float(limit), "spending": listed})
        return
    console.print(f"Today ${taken:.4f}" + (" (no limit)" if limit is None else f" of ${limit}") + ", until 00:00 UTC.")
    if not listed:
        console.print("No model has been called.")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("day", "job", "model", "calls", "failed", "tokens in", "cached", "out", "cost $", "estimated $"):
        table.add_column(heading, justify="left" if heading in ("day", "job", "model") else "right")
    for each in listed:
        table.add_row(
            *(str(each.day), each.job_type or "–", each.model, str(each.calls), str(each.failed or "·")),
            *(f"{count:,}" for count in (each.input_tokens, each.cache_tokens, each.output_tokens)),
            *(f"{dollars:.4f}" if dollars else "·" for dollars in (each.cost_usd, each.estimated_usd)),
        )
    console.print(table)
