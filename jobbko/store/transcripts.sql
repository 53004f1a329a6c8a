-- What was said in a recording.

-- name: segments
select s.id, s.start_ms, s.end_ms, s.text, s.speaker
  from transcriptions t join transcription_segments s on s.transcription_id = t.id
 where t.media_node_id = %(media_node_id)s and t.current
 order by s.idx
