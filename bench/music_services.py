"""A scan of 500 tracks against services that enforce their rules: python bench/music_services.py [--tracks 500].

MusicBrainz (1 request a second, else 503 to all), the Cover Art Archive, Discogs (60 a minute), LRCLIB and ntfy are
stand-ins on loopback with the real rules and errors; two worker processes with four threads each work the library up.
Shown: whether a rule was broken, how close requests came, and what was found. Exit code 1 if one was.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from jobbko import settings, store
from jobbko.demo.samples import cover
from jobbko.store import pool
from jobbko.store.migrate import migrate
from jobbko.testing.music_services import Services, music_services
from jobbko.testing.postgres import temporary_server
from jobbko.testing.records import Shop, Words
from tests.actors.music.scanning import song

#: Tracks of an album; of ten albums, how many have their ids in their tags, and how many nobody knows.
ON_AN_ALBUM, TAGGED, UNKNOWN = 10, 4, 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tracks", type=int, default=500)
    arguments = parser.parse_args()
    shop = Shop()
    with (
        tempfile.TemporaryDirectory() as folder,
        temporary_server() as settings.DATABASE_URL,
        music_services(shop) as services,
    ):
        stock(shop, Path(folder) / "Music", arguments.tracks // ON_AN_ALBUM)
        migrate()
        started = time.monotonic()
        with workers(services, folder):
            scan(f"{folder}/Music")
        seconds = time.monotonic() - started
        report(services, seconds, arguments.tracks)
        pool.close()


def stock(shop: Shop, root: Path, albums: int) -> None:
    """Put albums into the shop and into the folder, the same at every run."""
    dice = random.Random(1)
    for album in range(albums):
        artist, title = f"Artist {album % 17}", f"Album {album} of {dice.choice(('Tides', 'Winds', 'Stones'))}"
        tracks = [(f"Song {album}-{number}", float(dice.randint(120, 300))) for number in range(ON_AN_ALBUM)]
        known = album % 10 >= UNKNOWN
        release = shop.release(title, artist, tracks) if known else None
        if release is not None and album % 3:
            shop.covers[release] = cover(title, artist, "#336699", size=300)
        elif album % 3 == 0:
            shop.discogs[artist, title] = cover(title, artist, "#993333", size=300)
        for number, (name, seconds) in enumerate(tracks, start=1):
            tags = {"title": name, "artist": artist, "album": title, "tracknumber": str(number)}
            if release is not None and album % 10 >= 10 - TAGGED:
                tags["musicbrainz_albumid"] = release
            song(root, f"{artist}/{title}/{number:02}.flac", seconds + dice.uniform(-2, 2), **tags)
            if number % 2:
                shop.words.append(Words(name, artist, title, seconds, synced="[00:10.00]La\n[00:20.00]La la"))


@contextlib.contextmanager
def workers(services: Services, folder: str):
    """Two, that ask the stand-ins."""
    environment = (
        os.environ
        | services.settings
        | {
            "DATABASE_URL": settings.DATABASE_URL,
            "JOBBKO_DATA_DIR": folder,
            "JOBBKO_SETTLE": "0",
        }
    )
    command = [sys.executable, "-m", "dramatiq", "actors", "--processes", "2", "--threads", "4"]
    with open(f"{folder}/log", "wb") as log:
        worker = subprocess.Popen(command, env=environment, stderr=log, start_new_session=True)
        try:
            yield
        finally:
            os.killpg(worker.pid, signal.SIGTERM)
            try:
                worker.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(worker.pid, signal.SIGKILL)


def scan(root: str) -> None:
    """Until nothing is left to do."""
    import actors  # noqa: F401  every job declares itself
    from pipelines import library

    library.scan(root).run()
    while True:
        left, closed, done = store.rows(
            "select count(*) filter (where status not in ('completed', 'error', 'cancelled')),"
            " (select count(*) from queue_state where closed), count(*) filter (where status = 'completed')"
            " from job_queue"
        )[0]
        print(f"\r{done} jobs done, {left} left, {closed} gates closed ", end="", file=sys.stderr, flush=True)
        if not left and done:
            print(file=sys.stderr)
            return
        time.sleep(0.5)


def report(services: Services, seconds: float, tracks: int) -> None:
    asked = services.times("ws")
    gaps = [later - earlier for earlier, later in itertools.pairwise(asked)]
    found = store.rows(
        "select (select count(*) from tracks), (select count(*) from tracks where mb_recording_id is not null),"
        " (select count(*) from lyrics), (select count(*) from albums a where exists (select from artwork_link l"
        " where l.album_id = a.id)), (select count(*) from job_queue where status = 'error'),"
        " (select count(*) from queue_event where event = 'closed')"
    )[0]
    names = ("tracks", "with a recording", "with lyrics", "albums with a cover", "dead jobs", "gates that closed")
    print(
        f"{tracks} tracks in {seconds:.0f} s; {', '.join(f'{n} {name}' for n, name in zip(found, names, strict=True))}"
    )
    for service in ("ws", "coverart", "discogs", "lrclib"):
        print(f"{service}: {len(services.times(service))} requests")
    print(f"MusicBrainz: smallest gap {min(gaps, default=0):.3f} s, {len(asked) / max(seconds, 1):.2f} a second")
    print("broken rules:", services.broken or "none")
    print(json.dumps({"broken": len(services.broken), "smallest_gap": round(min(gaps, default=0), 3)}))
    sys.exit(1 if services.broken or found[4] else 0)


if __name__ == "__main__":
    main()
