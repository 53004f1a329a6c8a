"""Choose what a listener may want to hear next: a batch of tracks for her session, each with the reason for it.

Sent by the database itself when a session starts and when a track was played to the end. Safe to repeat: the batch is
committed with the job's end, a session has one batch of each trigger and number, and none is made while nothing has
happened since the last one.
"""

from __future__ import annotations

import hashlib
from typing import Any

from broker import actor, completion
from jobbko import audio, vibe
from jobbko.errors import Permanent
from jobbko.store import listening
from jobbko.store.listening import Session, Standing
from jobbko.vibe import Seed, Spread, Track, likeness

#: Tracks that a batch is to sound like; each counts half of the one before.
SEEDS = 5
#: A listener who plays what she was offered has enough while so many of the newest batch are left.
ENOUGH = vibe.SIZE // 2


@actor(priority=1, dedupe=True)
def recommendation_gen(listening_session_id: str, trigger: str) -> dict[str, Any]:
    if trigger not in listening.TRIGGERS:
        raise Permanent(f"trigger {trigger!r} is none of {', '.join(listening.TRIGGERS)}")
    # All of it in one transaction, with the session locked: what is read here must not be offered by another meanwhile.
    with completion() as done:
        session = listening.locked_session(listening_session_id)
        standing = listening.standing(session, trigger)
        if unneeded := why_none(standing, trigger):
            done.result = {"batch": None, "tracks": 0, "reason": unneeded}
        else:
            done.result = recommend(session, standing, trigger)
    return dict(done.result)


def why_none(standing: Standing, trigger: str) -> str:
    """Why no new batch is needed; "" if one is."""
    if trigger == "session_start" and standing.begun:
        return "a session starts once, and has its first batch"
    if trigger == "playback_completed" and standing.begun and standing.last_event == standing.after_event:
        return "nothing was played to the end since the last batch"
    if standing.follows and standing.ahead >= ENOUGH:
        return f"{standing.ahead} tracks of the last batch are still ahead"
    return ""


def recommend(session: Session, standing: Standing, trigger: str) -> dict[str, Any]:
    seq = standing.batches + 1
    seed = seed_of(session.id, trigger, seq)
    played = listening.heard(session)
    # What was offered and played must not come again as another file, so their names are needed too.
    before = known([each.id for each in played], session)
    taken = known(listening.offered(session), session)
    to_the_end = {each.id for each in played if each.completed}
    completed = [track for track in before if track.id in to_the_end]
    seeds = seeds_for(session, completed, seed)
    spread = listening.spread(Spread, session, analyzer=audio.ANALYZER)
    picks = vibe.choose(
        near_to(session, seeds, spread, seed),
        seeds=seeds,
        before=before[::-1],
        taken=taken,
        spread=spread,
        seed=seed,
    )
    reason = "" if len(picks) == vibe.SIZE else why_few(session, len(picks))
    batch = listening.add_batch(
        session,
        trigger,
        seq,
        version=vibe.VERSION,
        seed=seed,
        after_event=standing.last_event,
        reason=reason,
        seeds=[{"track_id": each.track.id, "kind": each.kind, "weight": each.weight} for each in seeds],
        items=[
            {
                "pos": pos,
                "track_id": pick.track.id,
                "score": pick.score,
                "explored": pick.explored,
                "reason": pick.reason,
            }
            for pos, pick in enumerate(picks, 1)
        ],
    )
    return {"batch": batch, "seq": seq, "tracks": len(picks), "reason": reason}


def seed_of(session_id: str, trigger: str, seq: int) -> int:
    """A number that fits a bigint; a job that runs again draws the same lots."""
    digest = hashlib.blake2b(f"{session_id}/{trigger}/{seq}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def seeds_for(session: Session, completed: list[Track], seed: int) -> list[Seed]:
    """What the session has played to the end, the latest first; else the listener's favourites; else one by chance."""
    kind, tracks = "played", [track for track in completed if track.analysed][:SEEDS]
    if not tracks:
        kind, tracks = "favourite", known(listening.favourites(session, analyzer=audio.ANALYZER, limit=SEEDS), session)
    if not tracks:
        kind, tracks = "chance", known(listening.by_chance(session, analyzer=audio.ANALYZER, seed=seed), session)
    return [Seed(track, kind, 0.5**rank) for rank, track in enumerate(tracks)]


def known(ids: list[str], session: Session) -> list[Track]:
    """All that there is to know of them, in this order; a sweep may have deleted one at this moment."""
    found = listening.tracks(Track, ids, session, analyzer=audio.ANALYZER)
    return [found[id] for id in ids if id in found]


def near_to(session: Session, seeds: list[Seed], spread: Spread, seed: int) -> list[Track]:
    """Candidates: the nearest that may be played, and some that were never heard."""
    if not seeds:
        return []
    weights = {term.name: term.weight for term in likeness.TERMS}
    narrowed = likeness.centre([(each.track, each.weight) for each in seeds])
    narrowed |= {f"{name}_sd": getattr(spread, name) or 1.0 for name in likeness.NARROWED_BY}
    ids = listening.candidates(
        session,
        analyzer=audio.ANALYZER,
        seed=seed,
        narrowed=narrowed | {"tempo": weights["tempo"], "key": weights["key"]},
    )
    return known(ids, session)


def why_few(session: Session, number: int) -> str:
    counts = listening.counts(session, analyzer=audio.ANALYZER)
    if not counts.there:
        return "there is no track in the library"
    if not counts.analysed:
        return "no track of the library has been analysed yet"
    left = {0: "nothing is", 1: "only 1 is"}.get(number, f"only {number} are")
    return f"{left} left of {counts.analysed} analysed tracks: the others were played, offered, disliked or skipped"
