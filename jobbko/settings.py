"""Every knob, read from the environment once, at import. Times are seconds unless the name says otherwise."""

from __future__ import annotations

import os
from decimal import Decimal, InvalidOperation
from pathlib import Path

from platformdirs import user_data_path

from jobbko.errors import UserError


def _number(name: str, default: float, *, minimum: float = 0) -> float:
    raw = os.environ.get(name, "")
    try:
        value = float(raw) if raw else default
    except ValueError:
        raise UserError(f"{name}={raw!r} is not a number; leave it unset for {default:g}.") from None
    if not minimum <= value < float("inf"):
        raise UserError(f"{name}={raw!r} must be at least {minimum:g}; leave it unset for {default:g}.")
    return value


def _money(name: str) -> Decimal | None:
    raw = os.environ.get(name, "").strip()
    try:
        value = Decimal(raw) if raw else None
    except InvalidOperation:
        raise UserError(f"{name}={raw!r} is not an amount of dollars; leave it unset for no limit.") from None
    if value is not None and not (value.is_finite() and value >= 0):
        raise UserError(f"{name}={raw!r} must be 0 or more; leave it unset for no limit.")
    return value


def _one_of(name: str, *choices: str) -> str:
    """The first choice if nothing is set."""
    raw = os.environ.get(name, "").strip() or choices[0]
    if raw not in choices:
        raise UserError(f"{name}={raw!r} must be one of {', '.join(choices)}; leave it unset for {choices[0]}.")
    return raw


def _names(name: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in os.environ.get(name, "").split(",") if part.strip())


#: libpq URL or DSN; empty means the embedded Postgres in DATA_DIR.
DATABASE_URL = os.environ.get("DATABASE_URL", "")
#: Most connections that one process keeps open for jobs and requests.
POOL_SIZE = int(_number("JOBBKO_POOL_SIZE", 16, minimum=1))
#: Where the embedded Postgres and downloaded files live; empty means the platform's place for user data.
DATA_DIR = Path(os.environ["JOBBKO_DATA_DIR"]) if os.environ.get("JOBBKO_DATA_DIR") else None

#: Seconds that the embedded Postgres goes on after its last user, so that the next command finds it running.
EMBEDDED_LINGER = _number("JOBBKO_EMBEDDED_LINGER", 3)

#: How long a worker owns a job before it must have said that it is alive.
LEASE = _number("JOBBKO_LEASE", 30, minimum=0.2)
#: Longest wait between two looks at the queue when no doorbell rings.
POLL_INTERVAL = _number("JOBBKO_POLL_INTERVAL", 1, minimum=0.01)
#: Only these job types are run by this worker; empty means all that it knows.
TYPES = _names("JOBBKO_TYPES")
#: First wait after a charged failure; doubled for each further one.
BACKOFF = _number("JOBBKO_BACKOFF", 30)

#: Days for which finished jobs are kept; 0 is for ever. Dead letters wait for a person, however long.
KEEP_COMPLETED = _number("JOBBKO_KEEP_COMPLETED", 30)
KEEP_CANCELLED = _number("JOBBKO_KEEP_CANCELLED", KEEP_COMPLETED)
KEEP_DEAD = _number("JOBBKO_KEEP_DEAD", 0)

#: Music library roots, separated by ":" like PATH; for example /mnt/hdd1/media/Music.
MUSIC_ROOTS = tuple(Path(part) for part in os.environ.get("JOBBKO_MUSIC_ROOTS", "").split(":") if part)
#: A file that was written to less than this many seconds ago may still be being copied; it is looked at twice.
SETTLE = _number("JOBBKO_SETTLE", 2)
#: Where cover pictures are kept; empty means a folder in DATA_DIR.
ARTWORK_DIR = Path(os.environ["JOBBKO_ARTWORK_DIR"]) if os.environ.get("JOBBKO_ARTWORK_DIR") else None
#: Services that know music; "off" for one that is not to be asked.
MUSICBRAINZ_URL = os.environ.get("JOBBKO_MUSICBRAINZ_URL", "https://musicbrainz.org/ws/2")
COVERART_URL = os.environ.get("JOBBKO_COVERART_URL", "https://coverartarchive.org")
LRCLIB_URL = os.environ.get("JOBBKO_LRCLIB_URL", "https://lrclib.net")
#: Discogs is asked for covers only with a token of yours (https://www.discogs.com/settings/developers).
DISCOGS_URL = os.environ.get("JOBBKO_DISCOGS_URL", "https://api.discogs.com")
DISCOGS_TOKEN = os.environ.get("JOBBKO_DISCOGS_TOKEN", "")
#: Where disliked files are put instead of being deleted; empty: they are deleted. A dry run only says which.
TRASH_DIR = Path(os.environ["JOBBKO_TRASH_DIR"]) if os.environ.get("JOBBKO_TRASH_DIR") else None
CLEANUP_DRY_RUN = os.environ.get("JOBBKO_CLEANUP_DRY_RUN", "") not in ("", "0")
#: Gets one line by POST when a gate closes (an ntfy topic's address, or any other); empty: nobody is told.
NOTIFY_URL = os.environ.get("JOBBKO_NOTIFY_URL", "")
#: Sent with each request; the services ask for a way to reach whoever runs the program.
CONTACT = os.environ.get("JOBBKO_CONTACT", "")

#: Folders that jobs may read files from when a payload names a path, separated by ":"; unset, any that the worker may
#: read. The music library's roots are always among them.
MEDIA_ROOTS = tuple(Path(part) for part in os.environ.get("JOBBKO_MEDIA_ROOTS", "").split(":") if part)
#: Where recordings are transcribed: an OpenAI-compatible server, up to its /v1, and the model that it is asked for. Its
#: key, if it wants one, is in JOBBKO_WHISPER_KEY.
WHISPER_URL = os.environ.get("JOBBKO_WHISPER_URL", "")
WHISPER_MODEL = os.environ.get("JOBBKO_WHISPER_MODEL", "whisper-1")
#: A second server, of low priority, for while somebody is in a call; unset, the first is asked to take fewer threads.
WHISPER_LOW_URL = os.environ.get("JOBBKO_WHISPER_LOW_URL", "")
#: Seconds of sound in one request, at most; and how many seconds the server may take for one of them.
WHISPER_PIECE = _number("JOBBKO_WHISPER_PIECE", 600, minimum=5)
WHISPER_PATIENCE = _number("JOBBKO_WHISPER_PATIENCE", 6, minimum=0.1)
#: LiveKit, whose calls must not stutter because a recording is transcribed beside them.
LIVEKIT_URL = os.environ.get("JOBBKO_LIVEKIT_URL", "")
LIVEKIT_KEY = os.environ.get("JOBBKO_LIVEKIT_KEY", "")
LIVEKIT_SECRET = os.environ.get("JOBBKO_LIVEKIT_SECRET", "")
#: auto asks LiveKit; low or full decides by itself how many threads speech recognition takes.
GOVERNOR = _one_of("JOBBKO_GOVERNOR", "auto", "low", "full")

#: Characters from which on a new text in `nodes` starts the jobs that read it; `jobbko migrate` tells the database.
SUGGEST_MIN_CHARS = int(_number("JOBBKO_SUGGEST_MIN_CHARS", 200))
#: A TOML file with gateways to models, and which job uses which (jobbko/ai/gateways.py); for a single gateway, these.
AI_CONFIG = os.environ.get("JOBBKO_AI_CONFIG", "")
AI_BACKEND = os.environ.get("JOBBKO_AI_BACKEND", "gateway")
AI_URL = os.environ.get("JOBBKO_AI_URL", "")
AI_MODEL = os.environ.get("JOBBKO_AI_MODEL", "")
AI_EMBEDDING_MODEL = os.environ.get("JOBBKO_AI_EMBEDDING_MODEL", "")
#: Its models cost nothing: no price is looked up, and no budget holds them up.
AI_FREE = os.environ.get("JOBBKO_AI_FREE", "") not in ("", "0")
#: A GGUF file for the local server (`jobbko local-ai`); empty means a tiny one for demonstration, fetched once.
LOCAL_MODEL = Path(os.environ["JOBBKO_LOCAL_MODEL"]) if os.environ.get("JOBBKO_LOCAL_MODEL") else None
#: Tokens of prompt and answer together that it takes; memory grows with it.
LOCAL_CONTEXT = _number("JOBBKO_LOCAL_CONTEXT", 4096, minimum=256)
#: Dollars that model calls may cost on one UTC day; 0 is none, unset is no limit.
BUDGET_DAY_USD = _money("JOBBKO_BUDGET_DAY_USD")
#: Days for which requests to models and their answers are kept; the figures stay. 0 is for ever.
KEEP_MODEL_BODIES = _number("JOBBKO_KEEP_MODEL_BODIES", 30)


def data_dir() -> Path:
    """DATA_DIR, or the place where this machine keeps such data: the system's for root, else the user's own."""
    if DATA_DIR is not None:
        return DATA_DIR
    return Path("/var/lib/jobbko") if os.geteuid() == 0 else user_data_path("jobbko")
