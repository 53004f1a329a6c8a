"""LiveKit: whether anybody is in a call, by its RoomService.

https://docs.livekit.io/home/server/managing-rooms/ (Twirp: JSON by POST); the token is described at
https://docs.livekit.io/home/get-started/authentication/.
"""

from __future__ import annotations

import time

from jobbko import clients, settings
from jobbko.errors import JobError

SERVICE = "livekit"
#: Seconds that a token holds.
HOLDS = 60


def configured() -> bool:
    return bool(settings.LIVEKIT_URL)


def active() -> bool:
    """Whether a room has somebody in it. True if LiveKit cannot be asked, so that no call suffers from that."""
    try:
        answer = clients.request(
            "POST",
            f"{_address()}/twirp/livekit.RoomService/ListRooms",
            service=SERVICE,
            timeout=5,
            limit=4 * 1024 * 1024,
            headers={"Authorization": f"Bearer {_token()}"},
            json={},
        ).json()
    except (JobError, ValueError):
        return True
    rooms = answer.get("rooms") or [] if isinstance(answer, dict) else []
    return any(_people(room) > 0 for room in rooms if isinstance(room, dict))


def _people(room: dict[str, object]) -> int:
    """LiveKit writes num_participants, or in the canonical JSON of protobuf numParticipants."""
    count = room.get("num_participants", room.get("numParticipants", 0))
    return count if isinstance(count, int) else 0


def _address() -> str:
    """Clients of a room use ws:// and wss:// for the same server."""
    return settings.LIVEKIT_URL.rstrip("/").replace("ws://", "http://", 1).replace("wss://", "https://", 1)


def _token() -> str:
    import jwt

    now = int(time.time())
    claims = {"iss": settings.LIVEKIT_KEY, "nbf": now - 10, "exp": now + HOLDS, "video": {"roomList": True}}
    return jwt.encode(claims, settings.LIVEKIT_SECRET, algorithm="HS256")
