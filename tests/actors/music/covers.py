"""A picture, an album that MusicBrainz knows, and which cover an album has."""

from jobbko.demo.samples import cover
from jobbko.store import artwork, music

RELEASE, GROUP = "76df3287-6cda-33eb-8e9a-044b5e15ffdd", "c31a5e2b-0bf8-32e0-8aeb-ef4ba9973932"
PICTURE = cover("Archive", "Somebody", "#808080", size=200)


def album_artwork(track: music.Track) -> artwork.Artwork | None:
    album = music.album(track.album_id)
    return artwork.get(album.artwork_id) if album.artwork_id else None
