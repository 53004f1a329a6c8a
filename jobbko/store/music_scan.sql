-- What a scan of a library root reads and writes. Many files in one statement, as JSON rows; bytes travel as hex.

-- name: lock_roots
select pg_advisory_xact_lock(hashtext('jobbko library_roots'))

-- name: root
select collection_node_id, path, path_text, state, accept_missing, last_file_count,
       coalesce(last_full_scan_at < now() - interval '6 days 12 hours', false) as full_is_due
  from library_roots
 where path = %(path)s

-- name: root_of
select collection_node_id, path, path_text, state, accept_missing, last_file_count,
       coalesce(last_full_scan_at < now() - interval '6 days 12 hours', false) as full_is_due
  from library_roots
 where collection_node_id = %(collection)s

-- name: root_paths
select path from library_roots order by path

-- name: add_root
with node as (
    insert into nodes (kind, title) values ('library_root', %(path_text)s) returning id
)
insert into library_roots (collection_node_id, path, path_text)
select id, %(path)s, %(path_text)s from node

-- name: accept_missing
update library_roots set accept_missing = true where collection_node_id = %(collection)s

-- name: begin_scan
insert into scan_run (collection_node_id, full_read, started_at)
values (%(collection)s, %(full)s, clock_timestamp())
returning id

-- name: forget_old_scans
delete from scan_run
 where collection_node_id = %(collection)s
   and (started_at < now() - interval '90 days'
        or state = 'running' and started_at < now() - interval '2 days')

-- name: end_scan
update scan_run
   set state = %(state)s, reason = %(reason)s, counts = %(counts)s, finished_at = clock_timestamp()
 where id = %(scan)s and state = 'running'

-- name: end_root
update library_roots
   set state             = %(state)s,
       reason            = %(reason)s,
       last_scan_at      = now(),
       last_ok_scan_at   = case when %(state)s::text = 'ok' then now() else last_ok_scan_at end,
       last_file_count   = case when %(state)s::text = 'ok' then %(files)s::bigint else last_file_count end,
       last_full_scan_at = case when %(state)s::text = 'ok' and (%(full)s::boolean or last_full_scan_at is null)
                                then now() else last_full_scan_at end,
       accept_missing    = accept_missing and %(state)s::text <> 'ok'
 where collection_node_id = %(collection)s

-- name: inventory
-- In one value, since a hundred thousand rows take longer to be read than to be found: paths with a zero between them,
-- which no path contains, and for each 16 bytes of size and time; -1 for a file that could not be read, other than any.
select coalesce(string_agg(path, '\x00'::bytea order by path), ''::bytea) as paths,
       coalesce(string_agg(stamp, ''::bytea order by path), ''::bytea) as stamps
  from (select path, case when content_hash = '' then int8send(-1) || int8send(-1)
                          else int8send(size) || int8send(mtime_ns) end as stamp
          from tracks
         where collection_node_id = %(collection)s and state = 'ACTIVE' and path > %(after)s
         order by path
         limit %(limit)s) page

-- name: analyze
analyze tracks, albums, artists, track_artists

-- name: known
select id, path, path_key, size, mtime_ns, content_hash, state
  from tracks
 where collection_node_id = %(collection)s
   and (path = any(%(paths)s::bytea[]) or path_key = any(%(keys)s::text[]))

-- name: same_content
-- A few of each: a thousand copies of one silence must not be looked at again for each of them.
select t.id, t.path, t.path_key, t.size, t.mtime_ns, t.content_hash, t.state
  from (select distinct unnest(%(hashes)s::bytea[]) as content_hash) wanted
 cross join lateral (
        select id, path, path_key, size, mtime_ns, content_hash, state
          from tracks
         where collection_node_id = %(collection)s and content_hash = wanted.content_hash
         order by state desc, path
         limit 20) t

-- name: same_song
-- The surest first: the same place on a release, the same recording, the same names.
select decode(r.path, 'hex') as new_path, t.id, t.path, t.path_key, t.size, t.mtime_ns, t.content_hash, t.state
  from jsonb_to_recordset(%(rows)s::jsonb)
    as r (path text, title text, titled boolean, artist_credit text, album text, disc_no integer, track_no integer,
          duration_ms bigint, recording_id uuid, release_track_id uuid)
 cross join lateral (
        select 1 as rank, s.* from tracks s
         where s.collection_node_id = %(collection)s and s.mb_release_track_id = r.release_track_id
         union all
        select 2, s.* from tracks s
         where s.collection_node_id = %(collection)s and s.mb_recording_id = r.recording_id
         union all
        select 3, s.* from tracks s left join albums a on a.id = s.album_id
         where s.collection_node_id = %(collection)s and s.title = r.title and s.titled and r.titled
           and s.artist_credit = r.artist_credit and coalesce(a.title, '') = r.album
           and s.disc_no is not distinct from r.disc_no and s.track_no is not distinct from r.track_no) t
 where abs(coalesce(t.duration_ms, 0) - coalesce(r.duration_ms, 0)) <= 3000
 order by t.rank, t.state desc, t.path

-- name: restore
update tracks
   set state = 'ACTIVE', missing_since = null, updated_at = now()
 where id = any(%(tracks)s::uuid[]) and state = 'MISSING'

-- name: relocate
update tracks
   set path = r.path, path_text = r.path_text, path_key = r.path_key, mtime_ns = r.mtime_ns,
       state = 'ACTIVE', missing_since = null, updated_at = now()
  from (select id, decode(path, 'hex') as path, path_text, path_key, mtime_ns
          from jsonb_to_recordset(%(rows)s::jsonb)
            as r (id uuid, path text, path_text text, path_key text, mtime_ns bigint)) as r
 where tracks.id = r.id
   and not exists (select from tracks taken
                    where taken.collection_node_id = tracks.collection_node_id
                      and taken.path = r.path and taken.id <> r.id)

-- name: keep_features
-- The same sound under another name or time: what was measured stays true.
update track_audio_features
   set source_mtime_ns = r.mtime_ns
  from jsonb_to_recordset(%(rows)s::jsonb) as r (id uuid, old_mtime_ns bigint, mtime_ns bigint)
 where track_id = r.id and source_mtime_ns = r.old_mtime_ns

-- name: save_artists
insert into artists (collection_node_id, artist_key, name, sort_name, mb_artist_id)
select %(collection)s, artist_key, name, sort_name, mb_artist_id
  from jsonb_to_recordset(%(rows)s::jsonb)
    as r (artist_key text, name text, sort_name text, mb_artist_id uuid)
 order by artist_key
on conflict (collection_node_id, artist_key) do update
   set mb_artist_id = coalesce(artists.mb_artist_id, excluded.mb_artist_id),
       sort_name    = case when artists.sort_name = '' then excluded.sort_name else artists.sort_name end
 where (artists.mb_artist_id is null and excluded.mb_artist_id is not null)
    or (artists.sort_name = '' and excluded.sort_name <> '')

-- name: save_albums
insert into albums (collection_node_id, album_key, title, artist_id, artist_credit, compilation, release_date, year,
                    disc_total, mb_release_id, mb_release_group_id, mbid_source)
select %(collection)s, r.album_key, r.title, a.id, r.artist_credit, r.compilation, r.release_date, r.year,
       r.disc_total, coalesce(d.new, r.mb_release_id), r.mb_release_group_id,
       case when r.mb_release_id is null then '' else 'tag' end
  from jsonb_to_recordset(%(rows)s::jsonb)
    as r (album_key text, title text, artist_key text, artist_credit text, compilation boolean, release_date text,
          year integer, disc_total integer, mb_release_id uuid, mb_release_group_id uuid)
  left join artists a on a.collection_node_id = %(collection)s and a.artist_key = r.artist_key
  left join mbid_redirect d on d.collection_node_id = %(collection)s and d.old = r.mb_release_id
 order by r.album_key
on conflict (collection_node_id, album_key) do update
   set title               = excluded.title,
       artist_id           = excluded.artist_id,
       artist_credit       = excluded.artist_credit,
       compilation         = excluded.compilation,
       release_date        = coalesce(nullif(excluded.release_date, ''), albums.release_date),
       year                = coalesce(excluded.year, albums.year),
       disc_total          = coalesce(excluded.disc_total, albums.disc_total),
       mb_release_id       = coalesce(excluded.mb_release_id, albums.mb_release_id),
       mb_release_group_id = coalesce(excluded.mb_release_group_id, albums.mb_release_group_id),
       mbid_source         = coalesce(nullif(excluded.mbid_source, ''), albums.mbid_source),
       updated_at          = clock_timestamp()

-- name: save_tracks
-- What the tags leave open keeps what MusicBrainz has said (`filled`).
insert into tracks (collection_node_id, path, path_text, path_key, size, mtime_ns, content_hash, title, titled,
                    artist_credit, album_id, track_no, track_total, disc_no, genre, release_date, year, isrc, bpm_tag,
                    key_tag, duration_ms, codec, sample_rate, channels, bitrate, mb_recording_id, mb_release_track_id,
                    mbid_source, tag_error)
select %(collection)s, decode(r.path, 'hex'), r.path_text, r.path_key, r.size, r.mtime_ns,
       decode(r.content_hash, 'hex'), r.title, r.titled, r.artist_credit, a.id, r.track_no, r.track_total, r.disc_no,
       r.genre, r.release_date, r.year, r.isrc, r.bpm_tag, r.key_tag, r.duration_ms, r.codec, r.sample_rate,
       r.channels, r.bitrate, coalesce(d.new, r.mb_recording_id), r.mb_release_track_id,
       case when r.mb_recording_id is null then '' else 'tag' end, r.tag_error
  from jsonb_to_recordset(%(rows)s::jsonb)
    as r (path text, path_text text, path_key text, size bigint, mtime_ns bigint, content_hash text, title text,
          titled boolean, artist_credit text, album_key text, track_no integer, track_total integer, disc_no integer, genre text,
          release_date text, year integer, isrc text, bpm_tag real, key_tag text, duration_ms bigint, codec text,
          sample_rate integer, channels integer, bitrate integer, mb_recording_id uuid, mb_release_track_id uuid,
          tag_error text)
  left join albums a on a.collection_node_id = %(collection)s and a.album_key = r.album_key
  left join mbid_redirect d on d.collection_node_id = %(collection)s and d.old = r.mb_recording_id
 order by r.path
on conflict (collection_node_id, path) do update
   set path_text = excluded.path_text, path_key = excluded.path_key,
       audio_features_ready = exists (
           select from track_audio_features f
            where f.track_id = tracks.id and f.status = 'ok'
              and f.source_size = excluded.size and f.source_mtime_ns = excluded.mtime_ns),
       size = excluded.size, mtime_ns = excluded.mtime_ns, content_hash = excluded.content_hash,
       title = case when excluded.titled then excluded.title
                    else coalesce(tracks.filled ->> 'title', excluded.title) end,
       titled = excluded.titled,
       artist_credit = coalesce(nullif(excluded.artist_credit, ''), tracks.filled ->> 'artist_credit', ''),
       album_id = excluded.album_id,
       track_no = coalesce(excluded.track_no, (tracks.filled ->> 'track_no')::integer),
       track_total = excluded.track_total,
       disc_no = coalesce(excluded.disc_no, (tracks.filled ->> 'disc_no')::integer),
       genre = excluded.genre, release_date = excluded.release_date, year = excluded.year,
       isrc = coalesce(nullif(excluded.isrc, ''), tracks.filled ->> 'isrc', ''),
       bpm_tag = excluded.bpm_tag, key_tag = excluded.key_tag, duration_ms = excluded.duration_ms,
       codec = excluded.codec, sample_rate = excluded.sample_rate, channels = excluded.channels,
       bitrate = excluded.bitrate, tag_error = excluded.tag_error,
       mb_recording_id = coalesce(excluded.mb_recording_id, tracks.mb_recording_id),
       mb_release_track_id = coalesce(excluded.mb_release_track_id, tracks.mb_release_track_id),
       mbid_source = coalesce(nullif(excluded.mbid_source, ''), tracks.mbid_source),
       state = 'ACTIVE', missing_since = null, updated_at = now()
returning id, path

-- name: forget_credits
delete from track_artists where track_id = any(%(tracks)s::uuid[]) and source = 'tag'

-- name: credited_better
select distinct track_id from track_artists where track_id = any(%(tracks)s::uuid[]) and source = 'musicbrainz'

-- name: save_credits
insert into track_artists (track_id, role, position, artist_id, credited_as, collection_node_id)
select r.track_id, 'artist', r.position, a.id, r.credited_as, %(collection)s
  from jsonb_to_recordset(%(rows)s::jsonb)
    as r (track_id uuid, position smallint, artist_key text, credited_as text)
  join artists a on a.collection_node_id = %(collection)s and a.artist_key = r.artist_key
on conflict do nothing

-- name: active_count
select count(id) from tracks where collection_node_id = %(collection)s and state = 'ACTIVE'

-- name: present
select id, path, path_key, size, mtime_ns, content_hash, state
  from tracks
 where collection_node_id = %(collection)s and state = 'ACTIVE' and path = any(%(paths)s::bytea[])

-- name: mark_missing
update tracks
   set state = 'MISSING', missing_since = now(), updated_at = now()
 where id = any(%(tracks)s::uuid[]) and state = 'ACTIVE'

-- name: forget_unused_albums
-- Not those that another scan has touched meanwhile: its tracks may not be visible here yet.
delete from albums a
 using scan_run s
 where s.id = %(scan)s
   and a.collection_node_id = s.collection_node_id
   and a.updated_at < s.started_at
   and not exists (select from tracks t where t.album_id = a.id)
