"""Tracks made of figures."""

from jobbko.vibe import Track


def track(id: str, **known) -> Track:
    """Unsaid: a title and an artist of its own, 120 BPM, 8A, energy 0.5, everything else 0.5 as well, heard once."""
    plain = {
        "title": f"title {id}",
        "artist_credit": f"artist {id}",
        "artist_id": "",
        "mb_recording_id": None,
        "analysed": True,
        "bpm": 120.0,
        "key_camelot": "8A",
        "hpcp": [1.0, 0.5],
        "plays": 1,
        "skips": 0,
    }
    figures = ("energy", "danceability", "lufs", "spectral_centroid")
    melody = ("melody_voiced_ratio", "melody_range", "melody_motion")
    return Track(id=id, **(plain | dict.fromkeys((*figures, *melody), 0.5) | known))
