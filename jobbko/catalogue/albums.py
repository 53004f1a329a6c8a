"""Decide which release an album is, once and as a whole, for all its tracks: one each would mix its editions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from jobbko import catalogue, store
from jobbko.audio import matching
from jobbko.audio.matching import Match
from jobbko.catalogue import rows
from jobbko.clients import musicbrainz
from jobbko.clients.musicbrainz_answers import Candidate, Release
from jobbko.errors import Missing
from jobbko.store import lookups, metadata
from jobbko.store.lookups import Question
from jobbko.store.metadata import Album, Song

#: Releases of a search that are looked at whole; each is a request, and there is one a second for everyone.
LOOKED_AT = 3
#: A distance at which no better release is looked for.
SURE = 0.02
VARIOUS = "various artists"


def look_up(album_id: str) -> bool:
    """Ask what was not asked yet, and keep what fits; whether that has brought ids of a release that were not known."""
    album = metadata.album(album_id)
    songs = metadata.songs(album_id)
    question = Question("album", album_id, catalogue.PROVIDER, _asked(album, songs), album.collection_node_id)
    if lookups.is_answered(question):
        return False
    found = _named(album, songs) or _nearest(album, songs)
    with store.transaction():
        if found is None:
            metadata.forget_matches([song.id for song in songs], album_id)
        else:
            _keep(album, songs, *found)
        lookups.answer(question, found=found is not None, ttl=catalogue.KNOWN if found else catalogue.ABSENT)
    known = (album.mb_release_id, album.mb_release_group_id)
    return found is not None and (found[0].id, found[0].group_id) != known


def _asked(album: Album, songs: Sequence[Song]) -> str:
    """All that the answer depends on: another track on the album is another question."""
    sheet = [(song.disc_no, song.track_no, song.titled and song.title, song.duration_ms) for song in songs]
    said = repr((_tagged(album), album.title, album.artist_credit, album.compilation, sheet))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _tagged(album: Album) -> str | None:
    return album.mb_release_id if album.mbid_source == "tag" else None


def _named(album: Album, songs: Sequence[Song]) -> tuple[Release, Match] | None:
    """The release that the tags name. None if they name none, or one that there is not."""
    if (mbid := _tagged(album)) is None:
        return None
    try:
        release = musicbrainz.release(mbid)
    except Missing:
        return None
    if release.id != mbid:
        metadata.add_redirect(album.collection_node_id, mbid, release.id)
    return release, _compared(album, songs, release)


def _nearest(album: Album, songs: Sequence[Song]) -> tuple[Release, Match] | None:
    """The release that is nearest in names, lengths and places; None if none is near enough."""
    artist = "" if _is_various(album) else matching.EDITION.sub("", album.artist_credit)
    found = musicbrainz.search_releases(matching.EDITION.sub("", album.title), artist)
    best: tuple[Release, Match] | None = None
    for candidate in sorted(found, key=lambda each: _promise(album, songs, each))[:LOOKED_AT]:
        if _promise(album, songs, candidate)[0] > 2 * matching.ALBUM:
            break
        release = musicbrainz.release(candidate.id)
        match = _compared(album, songs, release)
        if best is None or match.distance < best[1].distance:
            best = release, match
        if match.distance <= SURE:
            break
    return best if best is not None and best[1].pairs and best[1].distance <= matching.ALBUM else None


def _promise(album: Album, songs: Sequence[Song], other: Candidate) -> tuple[float, int, bool, str, str]:
    """How far off a find of a search seems before its tracks are known: names, tracks; the first issue of equals."""
    apart = matching.names(matching.EDITION.sub("", album.title), matching.EDITION.sub("", other.title))
    if not _is_various(album):
        apart = max(apart, matching.names(album.artist_credit, other.artist))
    wanted = max([len(songs), *(song.track_no or 0 for song in songs if (song.disc_no or 1) == 1)])
    return round(apart, 2), abs(other.track_count - wanted), not other.official, other.date or "9999", other.id


def _is_various(album: Album) -> bool:
    return album.compilation and matching.folded(album.artist_credit) in ("", VARIOUS)


def _compared(album: Album, songs: Sequence[Song], release: Release) -> Match:
    return matching.albums(
        album.title,
        album.artist_credit,
        [rows.ours(song) for song in songs],
        release.title,
        release.artist,
        [rows.theirs(track) for track in release.tracks],
        various=_is_various(album),
    )


def _keep(album: Album, songs: Sequence[Song], release: Release, match: Match) -> None:
    """Write the release, and for each track that is on it which one it is; the others lose what they once matched."""
    metadata.set_album_match(
        album.id,
        release_id=release.id,
        group_id=release.group_id,
        source=album.mbid_source or "search",
        distance=match.distance,
        date=release.date,
        original_date=release.original_date,
        album_type=release.album_type,
        secondary_types=release.secondary_types,
        country=release.country,
        barcode=release.barcode,
        disc_total=release.disc_total,
    )
    paired = {ours for ours, *_ in match.pairs}
    metadata.forget_matches([song.id for index, song in enumerate(songs) if index not in paired])
    tracks = [(songs[ours].id, release.tracks[theirs], distance) for ours, theirs, distance in match.pairs]
    metadata.set_track_matches(
        album.collection_node_id,
        [rows.on_release(track_id, track, distance) for track_id, track, distance in tracks],
        [row for track_id, track, _ in tracks for row in rows.credits(track_id, track.credits)],
    )
