-- Which tracks sound alike, and which are the same recording.

-- name: sounds_like
-- Exact: every vector of the collection is looked at. 100,000 of them take 0.3 s with pgvector.
select f.track_id, sound_distance(f.embedding, %(embedding)s::real[]) as distance
  from track_audio_features f
  join tracks t on t.id = f.track_id
 where f.collection_node_id = %(collection)s
   and f.embedding_version = %(version)s
   and f.status = 'ok'
   and t.state = 'ACTIVE'
   and t.audio_features_ready
   and f.track_id <> all (%(without)s::uuid[])
 order by distance, f.track_id
 limit %(limit)s

-- name: same_recording
select other.track_id
  from track_audio_features one
  join track_audio_features other
    on other.collection_node_id = one.collection_node_id and md5(other.fingerprint) = md5(one.fingerprint)
   and other.fingerprint = one.fingerprint and other.track_id <> one.track_id
 where one.track_id = %(track_id)s
 order by other.track_id
