"""procrastinate, as its documentation says: `procrastinate schema --apply`, async tasks with concurrency."""

import asyncio
import importlib.metadata

import procrastinate
import psycopg
from race import Race

race = Race()
app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=race.url))


@app.task
async def noop() -> None:
    race.job_ran()


def unfinished() -> int:
    with psycopg.connect(race.url) as look:
        return look.execute("select count(*) from procrastinate_jobs where status <> 'succeeded'").fetchone()[0]


async def main() -> None:
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        await noop.batch_defer_async(*({} for _ in range(race.jobs)))

        race.wait_for_release()
        worker = asyncio.create_task(app.run_worker_async(concurrency=race.threads, install_signal_handlers=False))
        all_ran = asyncio.create_task(asyncio.to_thread(race.all_ran.wait))
        await asyncio.wait([worker, all_ran], return_when=asyncio.FIRST_COMPLETED)
        version = importlib.metadata.version("procrastinate")
        settings = {"procrastinate": version, "concurrency": race.threads, "tasks": "async", "listen_notify": True}
        await asyncio.to_thread(race.finish, unfinished, settings)


asyncio.run(main())
