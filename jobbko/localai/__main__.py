"""The process that serves local models: `python -m jobbko.localai PORT PARENT`.

A process of its own, because llama.cpp is C++ that may crash or eat memory: then this one dies and is started again,
and who waited for its answer finds the connection broken. PARENT is the process to end with; 0 for none.
"""

from __future__ import annotations

import os
import signal
import sys

from jobbko.errors import UserError
from jobbko.localai import models
from jobbko.localai.embeddings import Embeddings
from jobbko.localai.front import HOST, Front
from jobbko.localai.llama import Llama
from jobbko.localai.process import die_with


def main(port: int, parent: int) -> None:
    """UserError if the port is taken, or a model cannot be loaded."""
    if parent:
        die_with(parent)
    # At once: there is nothing to save, and a signal would have to wait for llama.cpp otherwise.
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_DFL)
    try:
        front = Front(port)
    except OSError as error:
        raise UserError(f"Nothing can listen on {HOST}:{port}: {error.strerror}. Choose another port.") from None
    front.llama = Llama(models.chat())
    front.embeddings = Embeddings(models.embedding())
    front.serve_forever()


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), int(sys.argv[2]))
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        os._exit(1)  # without waiting for what llama.cpp has started
