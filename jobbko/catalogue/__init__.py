"""Which recording on which release a track is: MusicBrainz is asked, its answers are compared, and what fits is kept.

The place that joins clients.musicbrainz, audio.matching and store.metadata for metadata_refresh. Beyond a threshold
nothing is written, and what a search once matched is taken back when it no longer fits.
"""

from __future__ import annotations

PROVIDER = "musicbrainz"
#: Seconds for which an answer holds: what was found, and that nothing was.
KNOWN, ABSENT = 90 * 24 * 3600, 30 * 24 * 3600
