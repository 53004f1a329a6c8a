"""Jobs that ask the real local server, run by a real worker, while the server is killed."""

from __future__ import annotations

import contextlib
from urllib.parse import urlsplit

import pytest

from jobbko import store
from jobbko.localai import process
from tests.engine.processes import dramatiq_worker
from tests.localai.conftest import answering
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("database", "models_here")]

#: A machine may be busy; what is waited for is a condition all the same.
LONG = 180


def statuses():
    return dict(store.rows("select status::text, count(*) from job_queue group by status"))


def closed():
    return store.rows("select gate, reason from queue_state where closed")


def test_a_server_killed_in_mid_answer_and_started_again_loses_and_charges_nothing():
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(process.running())
        worker = dramatiq_worker(app="tests.localai.app", **{**first.environment, "JOBBKO_LEASE": "10"})
        stack.enter_context(worker)
        until(lambda: store.value("select count(*) from worker") == 1)
        for n in range(5):
            store.run("insert into job_queue (job_type, payload) values ('count_up', %(of)s)", of=f'{{"to": {n + 90}}}')
        until(lambda: answering(first.url) > 0, LONG)
        first.process.kill()
        until(lambda: closed() == [("llm:default", "outage")], LONG)
        until(lambda: "running" not in statuses(), LONG)
        waiting = statuses()
        assert set(waiting) <= {"pending", "completed"}  # one may have been quicker than we were
        assert waiting["pending"] >= 1

        stack.enter_context(process.running(urlsplit(first.url).port))
        store.run("update queue_state set resume_at = clock_timestamp()")  # the minute is over
        store.run("select pg_notify('jobbko', '')")
        until(lambda: statuses() == {"completed": 5}, LONG)

    assert closed() == []
    assert store.rows("select distinct attempts from job_queue") == [(0,)]
    results = store.rows("select result->>'text', (result->>'tokens')::int from job_queue")
    assert all(text and 0 < tokens <= 60 for text, tokens in results), results
    # Each job has one answer; who waited for one when the server died has a broken connection in the ledger.
    assert store.rows("select count(*), count(distinct job_id) from model_run where state = 'ok'") == [(5, 5)]
    broken = store.rows("select message from model_run where state <> 'ok' and class = 'outage'")
    assert any("RemoteProtocolError" in message or "ReadError" in message for (message,) in broken), broken
    assert store.rows("select distinct cost_usd::float8 from model_run") == [(0,)]
    assert store.value("select count(*) from model_run where state not in ('ok', 'failed')") == 0
