"""What to play next: how alike two tracks sound, and a walk through those that fit, each step with its reason.

Pure: it knows no database and no clock, and the same arguments give the same answer.
"""

from jobbko.vibe.likeness import Spread, Track
from jobbko.vibe.walk import SIZE, Pick, Seed, choose

#: Raise it when the same arguments give another answer; each batch says which version made it.
VERSION = 1

__all__ = ["SIZE", "VERSION", "Pick", "Seed", "Spread", "Track", "choose"]
