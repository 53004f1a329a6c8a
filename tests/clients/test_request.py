"""The seam that every client shares: how long an answer may take, and what a refusal means."""

import socket
import threading

import pytest

from jobbko import clients
from jobbko.errors import Charged, GateClosed, Missing, Throttled

#: A client asks the queue for a permit before each request.
pytestmark = pytest.mark.usefixtures("tx")

URL = "https://service.example/thing"


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, Charged),
        (401, GateClosed),
        (403, GateClosed),
        (404, Missing),
        (410, Missing),
        (408, Throttled),
        (422, Charged),
        (425, Throttled),
        (429, Throttled),
        (500, Charged),
        (502, Throttled),
        (503, Throttled),
        (529, Throttled),
    ],
)
def test_the_status_says_what_happens_to_the_job(http, status, error):
    http.on("GET", URL, status=status)

    with pytest.raises(error, match=str(status)):
        clients.request("GET", URL, service="service")


def test_a_service_may_keep_single_things_to_itself(http):
    http.on("GET", URL, status=403)

    with pytest.raises(Missing):
        clients.request("GET", URL, service="service", withheld=True)


@pytest.fixture
def dripping(monkeypatch):
    """A server that sends a byte now and then, for ever; its address."""
    monkeypatch.setattr(clients, "transport", None)
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve():
        conn, _ = listener.accept()
        with conn:
            conn.recv(4096)
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while not over.wait(0.02):
                try:
                    conn.sendall(b"x")
                except OSError:
                    return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    over.set()
    thread.join()
    listener.close()


def test_an_answer_that_drips_for_ever_is_given_up(dripping):
    # poddmo/abcde#1, mikenye/docker-picard#88
    with pytest.raises(Throttled, match="had no end in time"):
        clients.request("GET", dripping, service="service", timeout=0.2)


def test_a_models_answer_that_drips_for_ever_is_given_up(dripping):
    reply = clients.exchange("GET", dripping, service="service", provider="openai", timeout=0.2)
    assert "had no end in time" in str(reply.error)
