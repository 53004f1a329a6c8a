"""The other queues, each at a stated version in a virtual environment of its own under bench/.peers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ENVIRONMENTS = HERE / ".peers"

REQUIREMENTS = {
    "dramatiq-pg": ["dramatiq-pg==0.12.0", "dramatiq==1.18.0", "psycopg2-binary==2.9.13", "setuptools<82"],
    "dramatiq-postgres": ["dramatiq-postgres==1.4.0", "dramatiq==2.2.1", "psycopg[binary]==3.3.9"],
    "procrastinate": ["procrastinate==3.10.0", "psycopg[binary]==3.3.9"],
    "pgqueuer": ["pgqueuer[asyncpg]==1.6.0", "asyncpg==0.32.0", "uvloop==0.23.0"],
}


def python(name: str) -> Path:
    """The interpreter that runs this side; its environment is made if it is missing or was made for other versions."""
    if name not in REQUIREMENTS:
        return Path(sys.executable)  # jobbko and Dramatiq itself are where we are
    place, wanted = ENVIRONMENTS / name, "\n".join(REQUIREMENTS[name])
    made_for = place / "requirements.txt"
    if not made_for.exists() or made_for.read_text() != wanted:
        print(f"installing {name} …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        subprocess.run([place / "bin" / "pip", "install", "--quiet", *REQUIREMENTS[name]], check=True, stdout=2)
        made_for.write_text(wanted)
    return place / "bin" / "python"
