-- What is known of a library from outside it: matches, and the words of songs.

-- name: unrefreshed
select id
  from tracks
 where collection_node_id = any(%(collections)s::uuid[])
   and state = 'ACTIVE'
   and id > %(after)s
   and (refreshed_size is distinct from size or refreshed_mtime_ns is distinct from mtime_ns)
 order by id
 limit %(limit)s

-- name: forget_refreshed
update tracks set refreshed_size = null, refreshed_mtime_ns = null
 where collection_node_id = any(%(collections)s::uuid[])

-- name: set_refreshed
update tracks
   set refreshed_size = %(size)s, refreshed_mtime_ns = %(mtime_ns)s
 where id = %(track_id)s

-- name: songs
-- As their tags have it, without what was filled since: the question must not depend on its answer.
select id, title, titled,
       case when filled ? 'artist_credit' then '' else artist_credit end as artist_credit,
       case when filled ? 'disc_no' then null else disc_no end as disc_no,
       case when filled ? 'track_no' then null else track_no end as track_no,
       duration_ms, mb_recording_id, mb_release_track_id, mbid_source
  from tracks
 where album_id = %(album_id)s and state = 'ACTIVE'
 order by disc_no, track_no, path

-- name: song
select id, title, titled,
       case when filled ? 'artist_credit' then '' else artist_credit end as artist_credit,
       case when filled ? 'disc_no' then null else disc_no end as disc_no,
       case when filled ? 'track_no' then null else track_no end as track_no,
       duration_ms, mb_recording_id, mb_release_track_id, mbid_source
  from tracks
 where id = %(track_id)s

-- name: album
select id, collection_node_id, title, artist_credit, compilation, year, mb_release_id, mb_release_group_id, mbid_source
  from albums
 where id = %(album_id)s

-- name: add_redirect
insert into mbid_redirect (collection_node_id, old, new)
values (%(collection)s, %(old)s, %(new)s)
on conflict (collection_node_id, old) do update set new = excluded.new

-- name: set_album_match
update albums
   set mb_release_id       = %(release_id)s,
       mb_release_group_id = %(group_id)s,
       mbid_source         = %(source)s,
       match_distance      = %(distance)s,
       release_date        = coalesce(nullif(release_date, ''), %(date)s),
       year                = coalesce(year, left(nullif(%(date)s::text, ''), 4)::integer),
       original_date       = %(original_date)s,
       album_type          = %(album_type)s,
       secondary_types     = %(secondary_types)s,
       country             = %(country)s,
       barcode             = %(barcode)s,
       disc_total          = coalesce(disc_total, %(disc_total)s),
       updated_at          = clock_timestamp()
 where id = %(album_id)s

-- name: forget_album_match
-- Only what a search has found: what the tags say stays.
update albums
   set mb_release_id = null, mb_release_group_id = null, mbid_source = '', match_distance = null, original_date = '',
       album_type = '', secondary_types = '{}', country = '', barcode = '', updated_at = clock_timestamp()
 where id = %(album_id)s and mbid_source = 'search'

-- name: set_track_matches
update tracks t
   set mb_recording_id     = r.recording_id,
       mb_release_track_id = coalesce(r.release_track_id, t.mb_release_track_id),
       mbid_source         = case when t.mbid_source = 'tag' then 'tag' else 'search' end,
       match_distance      = r.distance,
       filled              = f.filled,
       title               = coalesce(f.filled ->> 'title', t.title),
       artist_credit       = coalesce(f.filled ->> 'artist_credit', t.artist_credit),
       track_no            = coalesce((f.filled ->> 'track_no')::integer, t.track_no),
       disc_no             = coalesce((f.filled ->> 'disc_no')::integer, t.disc_no),
       isrc                = coalesce(f.filled ->> 'isrc', t.isrc),
       updated_at          = now()
  from jsonb_to_recordset(%(rows)s::jsonb)
    as r (track_id uuid, recording_id uuid, release_track_id uuid, distance real, title text, artist_credit text,
          track_no integer, disc_no integer, isrc text)
  join tracks old on old.id = r.track_id
 cross join lateral (
        -- Open before, or filled before by us: the tags say nothing.
        select jsonb_strip_nulls(jsonb_build_object(
                   'title', case when not old.titled then nullif(r.title, '') end,
                   'artist_credit', case when old.artist_credit = '' or old.filled ? 'artist_credit'
                                         then nullif(r.artist_credit, '') end,
                   'track_no', case when old.track_no is null or old.filled ? 'track_no' then r.track_no end,
                   'disc_no', case when old.disc_no is null or old.filled ? 'disc_no' then r.disc_no end,
                   'isrc', case when old.isrc = '' or old.filled ? 'isrc' then nullif(r.isrc, '') end)) as filled) f
 where t.id = r.track_id

-- name: forget_track_matches
-- What was filled goes with it; the tags are read again by whoever calls this.
update tracks
   set mb_recording_id     = case when mbid_source = 'search' then null else mb_recording_id end,
       mb_release_track_id = case when mbid_source = 'search' then null else mb_release_track_id end,
       mbid_source         = case when mbid_source = 'search' then '' else mbid_source end,
       match_distance = null, filled = '{}',
       artist_credit = case when filled ? 'artist_credit' then '' else artist_credit end,
       track_no = case when filled ? 'track_no' then null else track_no end,
       disc_no = case when filled ? 'disc_no' then null else disc_no end,
       isrc = case when filled ? 'isrc' then '' else isrc end,
       updated_at = now()
 where id = any(%(tracks)s::uuid[]) and (match_distance is not null or mbid_source = 'search' or filled <> '{}')

-- name: forget_matched_credits
delete from track_artists where track_id = any(%(tracks)s::uuid[]) and source = 'musicbrainz'

-- name: save_matched_artists
-- One artist by its id; else one of that name that has none yet, or none of that name; else another of the same name.
with said as (
    select distinct on (mb_artist_id) *
      from jsonb_to_recordset(%(rows)s::jsonb)
        as r (artist_key text, other_key text, mb_artist_id uuid, name text, sort_name text, disambiguation text)
     order by mb_artist_id
),
placed as (
    select coalesce(
               (select artist_key from artists a
                 where a.collection_node_id = %(collection)s and a.mb_artist_id = said.mb_artist_id
                 order by artist_key limit 1),
               case when exists (select from artists a
                                  where a.collection_node_id = %(collection)s and a.artist_key = said.artist_key
                                    and a.mb_artist_id <> said.mb_artist_id)
                    then said.other_key else said.artist_key end) as artist_key,
           mb_artist_id, name, sort_name, disambiguation
      from said
),
once as (select distinct on (artist_key) * from placed order by artist_key, mb_artist_id)
insert into artists (collection_node_id, artist_key, name, sort_name, mb_artist_id, disambiguation)
select %(collection)s, artist_key, name, sort_name, mb_artist_id, disambiguation from once order by artist_key
on conflict (collection_node_id, artist_key) do update
   set mb_artist_id   = excluded.mb_artist_id,
       sort_name      = coalesce(nullif(excluded.sort_name, ''), artists.sort_name),
       disambiguation = excluded.disambiguation
 where (artists.mb_artist_id, artists.sort_name, artists.disambiguation)
       is distinct from (excluded.mb_artist_id, excluded.sort_name, excluded.disambiguation)

-- name: forget_credits
delete from track_artists where track_id = any(%(tracks)s::uuid[])

-- name: save_matched_credits
insert into track_artists (track_id, role, position, artist_id, credited_as, join_phrase, source, collection_node_id)
select r.track_id, 'artist', r.position, a.id, r.credited_as, r.join_phrase, 'musicbrainz', %(collection)s
  from jsonb_to_recordset(%(rows)s::jsonb)
    as r (track_id uuid, position smallint, mb_artist_id uuid, credited_as text, join_phrase text)
  join artists a on a.collection_node_id = %(collection)s and a.mb_artist_id = r.mb_artist_id
on conflict do nothing

-- name: set_lyrics
insert into lyrics (track_id, source, collection_node_id, synced_lrc, plain, instrumental, language, provider_id,
                    match_kind, matched_duration_ms)
select id, %(source)s, collection_node_id, %(synced_lrc)s, %(plain)s, %(instrumental)s, %(language)s, %(provider_id)s,
       %(match_kind)s, %(matched_duration_ms)s
  from tracks where id = %(track_id)s
on conflict (track_id, source) do update
   set synced_lrc = excluded.synced_lrc, plain = excluded.plain, instrumental = excluded.instrumental,
       language = excluded.language, provider_id = excluded.provider_id, match_kind = excluded.match_kind,
       matched_duration_ms = excluded.matched_duration_ms, fetched_at = now()
 where (lyrics.synced_lrc, lyrics.plain, lyrics.instrumental, lyrics.language, lyrics.provider_id)
       is distinct from (excluded.synced_lrc, excluded.plain, excluded.instrumental, excluded.language,
                         excluded.provider_id)

-- name: forget_lyrics
delete from lyrics where track_id = %(track_id)s and source = %(source)s

-- name: lyrics
select track_id, source, synced_lrc, plain, instrumental, language, match_kind
  from lyrics
 where track_id = %(track_id)s
 order by array_position(array['user', 'sidecar', 'embedded', 'lrclib'], source)
