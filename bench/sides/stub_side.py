"""Dramatiq's in-memory StubBroker: no Postgres, nothing kept. How fast Dramatiq's own worker can be."""

import dramatiq_worker
from dramatiq.brokers.stub import StubBroker
from race import Race

race = Race()
broker = StubBroker(middleware=dramatiq_worker.usual_middleware())
dramatiq_worker.run(race, broker, lambda: broker.queues["default"].unfinished_tasks, {"kept": "in memory"})
