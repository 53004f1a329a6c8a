"""The process that hears: `python -m jobbko.whisper HOST PORT PARENT THREADS [MODEL]`.

A process of its own, as CTranslate2 is C++ that takes all of a processor. PARENT is the process to end with; 0 for
none.
"""

from __future__ import annotations

import os
import socket
import sys

from jobbko.errors import UserError
from jobbko.localai.process import die_with
from jobbko.whisper import models
from jobbko.whisper.transcriber import Transcriber


def main(host: str, port: int, parent: int, threads: int, model: str) -> None:
    """UserError if the port is taken or the model cannot be loaded."""
    if parent:
        die_with(parent)
    import uvicorn

    from jobbko.whisper.app import application

    with _listening(host, port) as listener:  # before the model is loaded: whoever asks meanwhile waits
        app = application(Transcriber(models.find(model), threads), os.environ.get("JOBBKO_WHISPER_KEY", ""))
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
        uvicorn.Server(config).run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        said = f"Nothing can listen on {host}:{port}: {error.strerror or error}. Choose another port or host."
        raise UserError(said) from None


if __name__ == "__main__":
    code = 0
    try:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), "".join(sys.argv[5:6]))
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        code = 1
    sys.stderr.flush()
    os._exit(code)  # without waiting for what is still being heard: whoever asked for it asks again
