"""A process of bench/ledger.py that calls a model from many threads until it is killed or told to stop: it has no jobs,
so that nothing but the calls and their ledger is tried."""

from __future__ import annotations

import sys
import threading
from uuid import uuid4

from jobbko.ai.calls import complete
from jobbko.ai.prompts import prompt
from jobbko.errors import GateClosed, JobError

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
THREADS = 8


def main() -> None:
    spent = threading.Event()
    threads = [threading.Thread(target=call, args=(spent,), daemon=True) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    threading.Thread(target=until_closed, args=(spent,), daemon=True).start()
    for thread in threads:
        thread.join()


def call(spent: threading.Event) -> None:
    while not spent.is_set():
        try:
            complete(prompt("load", f"call {uuid4()}"), SCHEMA, max_tokens=50)
        except GateClosed as error:
            if error.reason == "budget":
                spent.set()
        except JobError:
            pass  # a failure that the gateway was told to answer with


def until_closed(spent: threading.Event) -> None:
    """Whoever started this process ends it in peace by closing its standard input."""
    sys.stdin.read()
    spent.set()


if __name__ == "__main__":
    main()
