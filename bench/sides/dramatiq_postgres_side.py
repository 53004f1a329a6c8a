"""dramatiq-postgres, set up as its README says: `dramatiq-postgres init`, a broker with the URL."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import dramatiq_worker
import psycopg
from dramatiq_postgres import PostgresBroker
from race import Race

race = Race()
subprocess.run([Path(sys.executable).with_name("dramatiq-postgres"), "--dsn", race.url, "init"], check=True, stdout=2)
look = psycopg.connect(race.url, autocommit=True)


def unfinished() -> int:
    return look.execute("select count(*) from dramatiq.queue").fetchone()[0]


broker = PostgresBroker(url=race.url, middleware=dramatiq_worker.usual_middleware())
settings = {"dramatiq-postgres": importlib.metadata.version("dramatiq-postgres"), "listen": True, "results": True}
dramatiq_worker.run(race, broker, unfinished, settings)
