"""The job engine: Dramatiq on Postgres. It knows no podcast, photo or album, and no SQL.

from jobbko.engine import PostgresBroker      # in the place of dramatiq_pg's
"""

from jobbko.engine.broker import PostgresBroker
from jobbko.engine.unit_of_work import attempt, collection, completion, report

__all__ = ["PostgresBroker", "attempt", "collection", "completion", "report"]
