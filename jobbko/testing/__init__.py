"""The test kit that ships with the product.

    from jobbko.testing import drain, sent, time_passes, working

    def test_a_scan_measures_what_it_found(database):
        library.scan("/music").run()
        drain(broker)
        assert sent("artwork_download") == []

A job is a function: call it in your test, in a transaction that you roll back. For what the queue does with it there
are: `sent` (what waits), `drain` (run all that is due, with real threads, until nothing is), `time_passes` (without
waiting), `working` and `until` (a worker for the length of a block), and `temporary_server` (a Postgres).
"""

from jobbko.testing.postgres import temporary_server
from jobbko.testing.queue import drain, sent, time_passes
from jobbko.testing.worker import until, working

__all__ = ["drain", "sent", "temporary_server", "time_passes", "until", "working"]
