"""dramatiq-pg, set up as its README says: `dramatiq-pg init`, a broker with the URL."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import dramatiq_worker
import psycopg2
from dramatiq_pg import PostgresBroker
from race import Race

race = Race()
subprocess.run([Path(sys.executable).with_name("dramatiq-pg"), "--dsn", race.url, "init"], check=True, stdout=2)
look = psycopg2.connect(race.url)
look.autocommit = True


def unfinished() -> int:
    with look.cursor() as cursor:
        cursor.execute("select count(*) from dramatiq.queue where state <> 'done'")
        return cursor.fetchone()[0]


broker = PostgresBroker(url=race.url, middleware=dramatiq_worker.usual_middleware())
settings = {"dramatiq-pg": importlib.metadata.version("dramatiq-pg"), "pool": 16, "results": True}
dramatiq_worker.run(race, broker, unfinished, settings)
