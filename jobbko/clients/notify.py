"""Tell a person: one line, POSTed to an address such as an ntfy topic (https://docs.ntfy.sh/publish/)."""

from __future__ import annotations

from jobbko import clients, settings


def tell(line: str) -> None:
    """Nothing happens without JOBBKO_NOTIFY_URL."""
    if settings.NOTIFY_URL:
        clients.request("POST", settings.NOTIFY_URL, service="notify", timeout=10, content=line.encode())
