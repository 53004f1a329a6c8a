-- What is listened to, and what to listen to next.

-- name: session
-- Locked, so that two jobs do not make the same batch; weakly, so that reports of what is played go on meanwhile. A job of
-- another collection learns nothing of it.
select id, collection_node_id, user_id
  from listening_session
 where id = %(id)s
   and coalesce(nullif(current_setting('jobbko.collection', true), ''), collection_node_id::text)
       = collection_node_id::text
   for no key update

-- name: standing
-- Where the session stands: its newest batch, what of that nobody has touched yet, and what was last played to the end.
with newest as (
    select id, after_event from vibe_batch where session_id = %(session)s order by created_at desc, id limit 1
), last as (
    select id, track_id from playback_event
     where session_id = %(session)s and completed
     order by coalesce(ended_at, started_at) desc, id limit 1
)
select (select count(*) from vibe_batch where session_id = %(session)s and trigger = %(trigger)s) as batches,
       (select id from last) as last_event,
       exists (select from newest) as begun,
       (select after_event from newest) as after_event,
       exists (select from vibe_batch_item i join last on last.track_id = i.track_id
                where i.session_id = %(session)s) as follows,
       (select count(*) from vibe_batch_item i join newest on newest.id = i.batch_id
         where not exists (select from playback_event e
                            where e.session_id = %(session)s and e.track_id = i.track_id)
           and not exists (select from dislikes d where d.user_id = %(user)s and d.track_id = i.track_id)) as ahead

-- name: heard
-- What was played in the session at all, the latest first.
select e.track_id as id, bool_or(e.completed) as completed
  from playback_event e
 where e.session_id = %(session)s
 group by e.track_id
 order by max(coalesce(e.ended_at, e.started_at)) desc, e.track_id

-- name: offered
select track_id as id from vibe_batch_item where session_id = %(session)s order by track_id

-- name: favourites
-- The listener's own, the latest first: what she likes, and what she has played to the end more often than skipped.
select t.id
  from tracks t
  join track_audio_features f on f.track_id = t.id and f.analyzer = %(analyzer)s and f.status = 'ok'
  left join likes l on l.track_id = t.id and l.user_id = %(user)s
  left join play_stats s on s.track_id = t.id and s.user_id = %(user)s
 where t.collection_node_id = %(collection)s
   and t.id in (select track_id from likes where user_id = %(user)s
                union
                select track_id from play_stats where user_id = %(user)s and plays > skips)
   and not exists (select from dislikes d where d.track_id = t.id and d.user_id = %(user)s)
 order by greatest(l.liked_at, s.last_played_at) desc, t.id
 limit %(limit)s

-- name: by_chance
select t.id
  from tracks t
  join track_audio_features f on f.track_id = t.id and f.analyzer = %(analyzer)s and f.status = 'ok'
 where t.collection_node_id = %(collection)s and t.state = 'ACTIVE'
   and not exists (select from dislikes d where d.track_id = t.id and d.user_id = %(user)s)
   and not exists (select from playback_event e where e.track_id = t.id and e.session_id = %(session)s)
   and not exists (select from vibe_batch_item i where i.track_id = t.id and i.session_id = %(session)s)
 order by hashtextextended(t.id::text, %(seed)s), t.id
 limit 1

-- name: tracks
select t.id, t.title, t.artist_credit,
       coalesce((select a.artist_id::text from track_artists a
                  where a.track_id = t.id and a.role = 'artist' order by a.position limit 1), '') as artist_id,
       t.mb_recording_id, f.track_id is not null as analysed, f.bpm, f.key_camelot, f.energy, f.danceability, f.lufs, f.spectral_centroid,
       f.melody_voiced_ratio, f.melody_range, f.melody_motion, f.hpcp,
       coalesce(s.plays, 0) as plays,
       case when s.last_skipped_at > now() - %(skips_count)s::real * interval '1 second'
            then s.skips_since_play else 0 end as skips
  from tracks t
  left join track_audio_features f on f.track_id = t.id and f.analyzer = %(analyzer)s and f.status = 'ok'
  left join play_stats s on s.track_id = t.id and s.user_id = %(user)s
 where t.id = any(%(ids)s::uuid[])
 order by t.id

-- name: spread
-- What a difference is measured by: how different the tracks of the collection are from each other.
select stddev_pop(energy) as energy, stddev_pop(danceability) as danceability, stddev_pop(lufs) as lufs,
       stddev_pop(spectral_centroid) as spectral_centroid, stddev_pop(melody_voiced_ratio) as melody_voiced_ratio,
       stddev_pop(melody_range) as melody_range, stddev_pop(melody_motion) as melody_motion
  from track_audio_features
 where collection_node_id = %(collection)s and status = 'ok' and analyzer = %(analyzer)s

-- name: candidates
-- From all that may be played to some hundred: the nearest by what a number can say, few of each artist, and beside them
-- some that this listener has never heard, by lot. Tempo and key are places on circles, so that twice as fast is as
-- fast and 12B lies beside 1B. What is unknown counts as halfway.
with pool as materialized (
    select t.id, coalesce(nullif(lower(t.artist_credit), ''), t.id::text) as artist,
           coalesce(s.plays, 0) as plays,
           -- The square of the chord from the place to the middle, which lies inside the circle, over its greatest.
           %(tempo)s::float8 * coalesce((1 + %(tempo_r)s::float8 ^ 2 - 2 * %(tempo_r)s::float8
                * cos(2 * pi() * ln(nullif(f.bpm, 0)) / ln(2) - %(tempo_at)s::float8)) / 4, 0.25)
         + %(key)s::float8 * coalesce((1 + %(key_r)s::float8 ^ 2 - 2 * %(key_r)s::float8
                * cos(pi() / 6 * left(f.key_camelot, -1)::integer - %(key_at)s::float8)) / 4, 0.25)
         + coalesce(((f.energy - %(energy)s::float8) / %(energy_sd)s::float8) ^ 2, 1)
         + coalesce(((f.danceability - %(danceability)s::float8) / %(danceability_sd)s::float8) ^ 2, 1)
         + coalesce(((f.spectral_centroid - %(spectral_centroid)s::float8) / %(spectral_centroid_sd)s::float8) ^ 2, 1)
         + coalesce(((f.lufs - %(lufs)s::float8) / %(lufs_sd)s::float8) ^ 2, 1) / 2 as distance
      from tracks t
      join track_audio_features f on f.track_id = t.id and f.analyzer = %(analyzer)s and f.status = 'ok'
      left join play_stats s on s.track_id = t.id and s.user_id = %(user)s
     where t.collection_node_id = %(collection)s and t.state = 'ACTIVE' and f.collection_node_id = %(collection)s
       and (s.skips_since_play is null or s.skips_since_play < %(too_many_skips)s
            or s.last_skipped_at < now() - %(skips_count)s::real * interval '1 second')
       and not exists (select from dislikes d where d.track_id = t.id and d.user_id = %(user)s)
       and not exists (select from playback_event e where e.track_id = t.id and e.session_id = %(session)s)
       and not exists (select from vibe_batch_item i where i.track_id = t.id and i.session_id = %(session)s)
), closest as (
    select id, artist, distance from pool order by distance, id limit %(closest)s
), near as (
    select id
      from (select id, distance, row_number() over (partition by artist order by distance, id) as nth from closest) ranked
     where nth <= %(each_artist)s
     order by distance, id
     limit %(near)s
), unheard as (
    select id from pool where plays = 0 order by hashtextextended(id::text, %(seed)s), id limit %(unheard)s
)
select id from near union select id from unheard order by id

-- name: counts
select count(*) as there,
       count(*) filter (where state = 'ACTIVE' and exists (
           select from track_audio_features f
            where f.track_id = t.id and f.analyzer = %(analyzer)s and f.status = 'ok')) as analysed
  from tracks t
 where collection_node_id = %(collection)s

-- name: add_batch
-- Nothing if there is such a batch: whoever made it was quicker, or is this job the time before.
insert into vibe_batch (collection_node_id, session_id, trigger, seq, algorithm_version, seed, after_event, reason)
values (%(collection)s, %(session)s, %(trigger)s, %(seq)s, %(version)s, %(seed)s, %(after_event)s, %(reason)s)
on conflict (session_id, trigger, seq) do nothing
returning id

-- name: add_seeds
insert into vibe_seed (batch_id, session_id, collection_node_id, track_id, kind, weight)
select b.id, b.session_id, b.collection_node_id, s.track_id, s.kind, s.weight
  from vibe_batch b, jsonb_to_recordset(%(seeds)s::jsonb) as s (track_id uuid, kind text, weight real)
 where b.id = %(batch)s

-- name: add_items
insert into vibe_batch_item (batch_id, session_id, collection_node_id, pos, track_id, score, explored, reason)
select b.id, b.session_id, b.collection_node_id, i.pos, i.track_id, i.score, i.explored, i.reason
  from vibe_batch b,
       jsonb_to_recordset(%(items)s::jsonb)
    as i (pos integer, track_id uuid, score real, explored boolean, reason text)
 where b.id = %(batch)s
