"""Does the ledger of model calls agree with the one who sold them? python bench/ledger.py [--json] [--calls 10000].

1. Four processes of eight threads call a gateway that answers, fails in several ways, counts cached tokens or leaves
   the figures out; processes are killed at random. The gateway keeps its own account. Wherever figures came back and
   could be written down, each row must say what the account says; the rest are estimates, and never below the truth.
2. The same under a budget of $1.00, a cent for each call: at most 100 may arrive, and spent and reserved are $1.00.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from jobbko import settings, store
from jobbko.store import pool
from jobbko.store.migrate import migrate
from jobbko.testing.gateway import Asked, Said, completion, error, scripted_gateway
from jobbko.testing.postgres import temporary_server

CALLER = Path(__file__).with_name("ledger_caller.py")
PROCESSES = 4
CONFIGURATION = """
[gateways.main]
url = "{url}"
model = "m"
[prices.m]
{price}
"""
#: Dollars for a million tokens, and what the gateway reckons with: the same figures, its own arithmetic.
PRICE = "input = 1.0\ncache_read = 0.1\noutput = 10.0"


class Account:
    """What the gateway has sold: dollars by call, and whether it said so."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.sold: dict[str, tuple[Decimal, bool]] = {}

    def answer(self, asked: Asked) -> Said:
        call = re.search(r"call ([0-9a-f-]{36})", json.dumps(asked.body))
        assert call is not None
        with self.lock:
            kind, prompt = self.random.random(), self.random.randint(10, 80)
            cached, output = self.random.randint(0, prompt), self.random.randint(1, 50)
        cost = (Decimal(prompt - cached) + Decimal(cached) / 10 + 10 * output) / 1_000_000
        if kind < 0.12:
            cost, said, told = Decimal(0), error(429, "slow down", code="rate_limit_exceeded"), True
        elif kind < 0.16:
            cost, said, told = Decimal(0), error(500, "boom"), True
        elif kind < 0.20:
            said, told = completion("no JSON at all", prompt=prompt, cached=cached, output=output), True
        elif kind < 0.24:
            said, told = completion('{"n": 1}', prompt=prompt, cached=cached, output=output), False
            said.body["usage"] = None
        elif kind < 0.26:  # sold, and the connection breaks before it is told
            said, told = Said(completion('{"n": 1}', prompt=prompt, cached=cached, output=output).body, None), False
        else:
            said, told = completion('{"n": 1}', prompt=prompt, cached=cached, output=output), True
        with self.lock:
            self.sold[call[1]] = (cost, told)
        return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with temporary_server() as settings.DATABASE_URL:
        migrate()
        found = agreement(options.calls, options.seed) | budget(options.seed)
        pool.close()
    for name, value in found.items():
        print(f"{name:28} {value}")
    wrong = found["rows_wrong"] or found["estimates_below_truth"] or found["calls_without_row"]
    wrong = wrong or found["budget_calls"] > 100 or found["budget_taken_usd"] != 1.0
    if options.json:
        print(json.dumps(found))
    sys.exit(1 if wrong else 0)


def agreement(calls: int, seed: int) -> dict[str, float]:
    account = Account(seed)
    with scripted_gateway() as gateway:
        gateway.script = account.answer
        killed = under_fire(gateway.url, PRICE, {}, seed, lambda: len(gateway.asked) >= calls)
    store.run("update model_run set state = 'unknown', cost_source = 'estimate' where state = 'reserved'")
    rows = store.rows(
        "select substring(request ->> 'prompt' from 'call (.*)'), cost_usd, cost_source, reserved_usd from model_run"
    )
    written = {call: (cost if source in ("table", "provider") else None, most) for call, cost, source, most in rows}
    estimates = {call: most for call, (cost, most) in written.items() if cost is None}
    exact = {call: cost for call, (cost, _) in written.items() if cost is not None and call in account.sold}
    return {
        "calls": len(account.sold),
        "processes_killed": killed,
        "rows_exact": len(exact),
        "rows_wrong": sum(cost != account.sold[call][0] for call, cost in exact.items()),
        "ledger_usd": float(sum(exact.values())),
        "account_usd": float(sum(account.sold[call][0] for call in exact)),
        "estimates": len(estimates),
        "estimates_below_truth": sum(most < account.sold.get(call, (0, True))[0] for call, most in estimates.items()),
        "calls_without_row": len(account.sold.keys() - written.keys()),
    }


def budget(seed: int) -> dict[str, float]:
    store.run("truncate model_run, budget_day")
    taken = "select coalesce(sum(reserved_usd + spent_usd), 0)::float8 from budget_day where scope = 'all'"
    with scripted_gateway() as gateway:
        gateway.script = lambda asked: completion('{"n": 1}')
        limits = {"JOBBKO_BUDGET_DAY_USD": "1.00"}
        killed = under_fire(gateway.url, "call = 0.01", limits, seed, lambda: store.value(taken) >= 1.0)
        time.sleep(1)  # whoever would ask beyond it has the time to
        arrived = len(gateway.asked)
    return {"budget_calls": arrived, "budget_taken_usd": store.value(taken), "budget_killed": killed}


def under_fire(url: str, price: str, environment: dict[str, str], seed: int, enough: Callable[[], bool]) -> int:
    """Keep the callers going, and kill one of them now and then, until enough has happened; how many were killed."""
    dice, killed = random.Random(seed), 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ai.toml"
        path.write_text(CONFIGURATION.format(url=url, price=price))
        given = {"JOBBKO_AI_CONFIG": str(path), "DATABASE_URL": settings.DATABASE_URL, **environment}
        callers = [started(given) for _ in range(PROCESSES)]
        deadline = time.monotonic() + 600
        while not enough() and time.monotonic() < deadline:
            time.sleep(0.05)
            for place, caller in enumerate(callers):
                if caller.poll() is not None:
                    callers[place] = started(given)
            if dice.random() < 0.03:
                callers[dice.randrange(PROCESSES)].kill()
                killed += 1
        for caller in callers:
            with contextlib.suppress(OSError):
                caller.stdin.close()
        for caller in callers:
            caller.wait(60)
    return killed


def started(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, CALLER], stdin=subprocess.PIPE, env=os.environ | environment)


if __name__ == "__main__":
    main()
