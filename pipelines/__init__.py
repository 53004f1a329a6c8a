"""Flows: which job follows which. A flow is a function that returns a composition of jobs; the caller runs it."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from dramatiq import Message, pipeline


def chain(*jobs: Message[Any], **options: Any) -> pipeline:
    """One job after another, each with the arguments written beside it; options, as `collection`, are for all."""
    return pipeline([job.copy(options={"pipe_ignore": True, **options}) for job in jobs])


# Every process knows the flows, and so what follows a job that was started alone.
for _module in pkgutil.iter_modules(__path__, prefix=f"{__name__}."):
    importlib.import_module(_module.name)
