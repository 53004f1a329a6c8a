"""Workers killed at random, and what must hold all the same: python bench/chaos.py [--seconds 60] [--workers 10].

1. A service limited to 1 request a second and a job type limited to 3 at a time, over all workers. The service itself
   keeps the log: when each request came, and how many were open at once.
2. Jobs that write under completion(): every effect exactly once.
"""

from __future__ import annotations

import argparse
import contextlib
import http.server
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("JOBBKO_LEASE", "2")

from chaos_app import ask as ask_service
from chaos_app import broker, effect, few

from jobbko import settings, store
from jobbko.store import gates, pool
from jobbko.store.migrate import migrate
from jobbko.testing.postgres import temporary_server

HERE = Path(__file__).parent
#: Seconds that the service takes for one of the jobs of which only few may run.
LASTS = 0.2


class Service(http.server.ThreadingHTTPServer):
    """Answers everything, and remembers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked: list[float] = []
        self.open = self.most_open = self.few = 0
        self.lock = threading.Lock()


class Answer(http.server.BaseHTTPRequestHandler):
    server: Service

    def do_GET(self) -> None:
        if self.path.startswith("/ask"):
            self.server.asked.append(time.monotonic())
        else:
            with self.server.lock:
                self.server.open += 1
                self.server.few += 1
                self.server.most_open = max(self.server.most_open, self.server.open)
            time.sleep(LASTS)
            with self.server.lock:
                self.server.open -= 1
        with contextlib.suppress(ConnectionError):
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class Herd:
    """Worker processes, of which some are killed and replaced all the time."""

    def __init__(self, size: int, service: str) -> None:
        self.environment = {**os.environ, "DATABASE_URL": settings.DATABASE_URL, "CHAOS_SERVICE": service}
        self.workers = [self.start() for _ in range(size)]
        self.killed = 0

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*(sys.executable, "-m", "dramatiq", "chaos_app", "--processes", "1", "--threads", "2")],
            cwd=HERE, env=self.environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def kill_one(self) -> None:
        at = random.randrange(len(self.workers))
        os.killpg(self.workers[at].pid, signal.SIGKILL)
        self.workers[at].wait()
        self.workers[at] = self.start()
        self.killed += 1

    def end(self) -> None:
        for worker in self.workers:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()


@contextlib.contextmanager
def herd(size: int, service: str) -> Iterator[Herd]:
    workers = Herd(size, service)
    try:
        yield workers
    finally:
        workers.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=10)
    parser.add_argument("--effects", type=int, default=1000)
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    options = parser.parse_args()
    with temporary_server() as settings.DATABASE_URL:
        migrate()
        store.run("create table effect (n integer)")
        broker.job_types.publish()
        found = limits(options.workers, options.seconds) | effects(options.workers, options.effects)
        pool.close()
    for name, value in found.items():
        print(f"{name:28} {value}")
    ok = found["most_in_ten_seconds"] <= 11 and found["most_running"] <= 3 and found["effects_wrong"] == 0
    print("holds" if ok else "DOES NOT HOLD")
    if options.json:
        print(json.dumps(found))
    sys.exit(not ok)


def limits(workers: int, seconds: float) -> dict[str, float]:
    service = Service()
    threading.Thread(target=service.serve_forever, daemon=True).start()
    gates.set_rate("chaos", 1)
    broker.enqueue_many(ask_service.message(n) for n in range(int(seconds) * 3))
    broker.enqueue_many(few.message(n) for n in range(int(seconds) * 30))
    with herd(workers, f"http://127.0.0.1:{service.server_port}") as herded:
        wait(seconds, herded)
    service.shutdown()
    gaps = [later - earlier for earlier, later in zip(service.asked, service.asked[1:], strict=False)]
    in_ten = [sum(at <= later < at + 10 for later in service.asked) for at in service.asked]
    store.run("delete from job_queue where lease_until is null")
    return {
        "workers_killed": herded.killed,
        "requests": len(service.asked),
        # 1 a second: 10 in ten seconds, and one more where a request came late and the next one did not.
        "most_in_ten_seconds": max(in_ten),
        "smallest_gap_s": round(min(gaps), 3),
        "limited_jobs": service.few,
        "most_running": service.most_open,
    }


def effects(workers: int, count: int) -> dict[str, float]:
    broker.enqueue_many(effect.message(n) for n in range(count))
    with herd(workers, "") as herded:
        wait(120, herded, until=lambda: store.value("select count(*) from effect") >= count, every=0.7)
        wait(60, herded, until=lambda: unfinished() == 0, every=None)
    ((wrong,),) = store.rows(
        "select count(*) from generate_series(0, %(last)s) g (n)"
        " where (select count(*) from effect where effect.n = g.n) <> 1",
        last=count - 1,
    )
    return {"effects": count, "effects_wrong": wrong, "killed_meanwhile": herded.killed}


def unfinished() -> int:
    return int(store.value("select count(*) from job_queue where job_type = 'effect' and status <> 'completed'"))


def wait(seconds: float, workers: Herd, until: Callable[[], bool] = lambda: False, every: float | None = 1.5) -> None:
    """Kill one every so often, until the time is over or the condition holds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not until():
        time.sleep(every or 0.1)
        if every:
            workers.kill_one()


if __name__ == "__main__":
    main()
