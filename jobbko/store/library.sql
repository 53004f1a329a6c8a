-- The music library as a person looks at it.

-- name: listing
select t.id, t.path_text as path, t.state, t.missing_since, t.title, t.artist_credit as artist, a.title as album,
       coalesce(f.decoded_seconds, t.duration_ms / 1000.0)::float8 as seconds,
       f.bpm::float8 as bpm, f.key_name as key, f.energy::float8 as energy, f.lufs::float8 as lufs,
       f.status, nullif(concat_ws('; ', nullif(f.reason, ''), nullif(nullif(t.tag_error, ''), f.reason)), '') as reason,
       f.partial,
       coalesce(own.source, whole.source) as cover
  from tracks t
  left join albums a on a.id = t.album_id
  left join track_audio_features f on f.track_id = t.id
  left join artwork_link own on own.track_id = t.id and own.kind = 'front'
  left join artwork_link whole on whole.album_id = t.album_id and whole.disc_no is null and whole.kind = 'front'
 where t.collection_node_id = %(collection)s
 order by t.path_text

-- name: progress
select count(*) filter (where job_type = 'audio_analysis' and state in ('queued', 'consumed')) as to_measure,
       count(*) filter (where job_type = 'artwork_download' and state in ('queued', 'consumed')) as to_cover,
       count(*) filter (where local and (state = 'consumed' or state = 'queued' and due)) as unfinished,
       count(*) filter (where local and state = 'queued' and not due) as later,
       min(scheduled_for) filter (where local and state = 'queued' and not due) as next_at,
       max(error_msg) filter (where local and state = 'queued' and not due) as why_later,
       count(*) filter (where job_type = 'metadata_refresh' and state in ('queued', 'consumed')) as to_look_up,
       count(*) filter (where status = 'error') as dead
  from job_queue, lateral (select job_type in ('audio_analysis', 'artwork_download') as local) this
 where collection_node_id = %(collection)s
   and job_type in ('audio_analysis', 'artwork_download', 'metadata_refresh', 'lyrics_download')

-- name: tracks
select count(*) from tracks where collection_node_id = %(collection)s and state = 'ACTIVE'
