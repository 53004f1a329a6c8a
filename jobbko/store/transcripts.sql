-- What was said in a recording.

-- name: segments
select s.id, s.start_ms, s.end_ms, s.text, s.speaker
  from transcriptions t join transcription_segments s on s.transcription_id = t.id
 where t.media_node_id = %(media_node_id)s and t.current
 order by s.idx

-- name: current
select version, source, input_sha256 from transcriptions where media_node_id = %(media_node_id)s and current

-- name: lock
-- Two jobs for one recording make their versions one after the other.
select from nodes where id = %(media_node_id)s for no key update

-- name: supersede
update transcriptions set current = false where media_node_id = %(media_node_id)s and current

-- name: add
insert into transcriptions (collection_node_id, media_node_id, version, language, model, source, duration_ms, input_sha256)
select %(collection)s, %(media_node_id)s, 1 + coalesce(max(version), 0), %(language)s, %(model)s, %(source)s,
       %(duration_ms)s, %(input_sha256)s
  from transcriptions where media_node_id = %(media_node_id)s
returning id

-- name: add_segments
insert into transcription_segments (collection_node_id, transcription_id, idx, start_ms, end_ms, text)
select %(collection)s, %(transcription_id)s, idx, start_ms, end_ms, text
  from unnest(%(start_ms)s::int[], %(end_ms)s::int[], %(text)s::text[])
       with ordinality s (start_ms, end_ms, text, idx)
