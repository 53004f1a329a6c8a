"""What the workers of chaos.py run: jobs that ask an outside service, and jobs that write under completion()."""

from __future__ import annotations

import os
import time

import dramatiq

from jobbko import clients, store
from jobbko.engine import PostgresBroker, completion, gates

SERVICE = os.environ.get("CHAOS_SERVICE", "")

broker = PostgresBroker()
dramatiq.set_broker(broker)
clients.permit = gates.permit


@dramatiq.actor
def ask(n: int) -> None:
    clients.request("GET", f"{SERVICE}/ask/{n}", service="chaos")


@dramatiq.actor(max_running=3)
def few(n: int) -> None:
    clients.request("GET", f"{SERVICE}/few/{n}", service="local")


@dramatiq.actor(max_attempts=1000)
def effect(n: int) -> None:
    time.sleep(0.05)
    with completion() as done:
        store.run("insert into effect (n) values (%(n)s)", n=n)
        time.sleep(0.05)  # long enough to be killed here, too
        done.result = n
