"""The jobs. One file is one job, named after it; its folder is its domain.

`dramatiq actors` and `periodiq actors` import this package, and it imports every job and then the flows.
"""

import importlib
import pkgutil

# The broker must be set before the first job is declared.
import broker as broker

for _module in pkgutil.walk_packages(__path__, prefix=f"{__name__}."):
    importlib.import_module(_module.name)
importlib.import_module("pipelines")
