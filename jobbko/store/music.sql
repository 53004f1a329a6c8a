-- Tracks and how they sound.

-- name: track
select t.id, t.collection_node_id, t.path, t.path_text, t.state, t.size, t.mtime_ns, t.title, t.artist_credit,
       t.album_id, t.disc_no, t.tag_error, t.audio_features_ready, r.path as root
  from tracks t
  join library_roots r on r.collection_node_id = t.collection_node_id
 where t.id = %(track_id)s

-- name: track_at
select t.id, t.collection_node_id, t.path, t.path_text, t.state, t.size, t.mtime_ns, t.title, t.artist_credit,
       t.album_id, t.disc_no, t.tag_error, t.audio_features_ready, r.path as root
  from tracks t
  join library_roots r on r.collection_node_id = t.collection_node_id
 where t.collection_node_id = %(collection)s and t.path = %(path)s

-- name: album
select a.id, a.collection_node_id, a.title, a.artist_credit, a.compilation, a.year, a.mb_release_id,
       a.mb_release_group_id, l.artwork_id, l.source as artwork_source
  from albums a
  left join artwork_link l on l.album_id = a.id and l.disc_no is null and l.kind = 'front'
 where a.id = %(album_id)s

-- name: unanalysed
select t.id
  from tracks t
  left join track_audio_features f on f.track_id = t.id and f.analyzer = %(analyzer)s
 where t.collection_node_id = any(%(collections)s::uuid[])
   and t.state = 'ACTIVE'
   and t.id > %(after)s
   and (f.track_id is null
        or f.analyzer_version < %(version)s
        or f.source_size <> t.size
        or f.source_mtime_ns <> t.mtime_ns
        or (f.status = 'unavailable' and %(available)s::boolean))
 order by t.id
 limit %(limit)s

-- name: features
select track_id, analyzer, analyzer_version, source_size, source_mtime_ns, status, reason, engine, partial, non_finite,
       decoded_seconds, analyzed_seconds, lufs, lra, true_peak_db, bpm, bpm_confidence, bpm_alt, key_pitch_class,
       key_mode, key_strength, key_name, key_camelot, key_agreement, key_edma, key_shaath, energy, danceability,
       dynamic_complexity, onset_rate, spectral_centroid, melody_voiced_ratio, melody_median_hz, melody_range,
       melody_spread, melody_motion, melody_turns, chord_change_rate, hpcp, fingerprint, embedding,
       embedding_version, cpu_ms, peak_rss_mb
  from track_audio_features
 where track_id = %(track_id)s and analyzer = %(analyzer)s

-- name: set_features
-- A worker of an older version, still running during an upgrade, does not overwrite a newer one's result.
insert into track_audio_features
      (track_id, analyzer, analyzer_version, collection_node_id, source_size, source_mtime_ns, status, reason, engine,
       partial, non_finite, decoded_seconds, analyzed_seconds, lufs, lra, true_peak_db, bpm, bpm_confidence, bpm_alt,
       key_pitch_class, key_mode, key_strength, key_name, key_camelot, key_agreement, key_edma, key_shaath, energy,
       danceability, dynamic_complexity, onset_rate, spectral_centroid, melody_voiced_ratio, melody_median_hz,
       melody_range, melody_spread, melody_motion, melody_turns, chord_change_rate, hpcp, fingerprint,
       embedding, embedding_version, cpu_ms, peak_rss_mb, analyzed_at)
select t.id, %(analyzer)s, %(version)s, t.collection_node_id, %(size)s, %(mtime_ns)s, r.status, coalesce(r.reason, ''),
       coalesce(r.engine, ''), coalesce(r.partial, false), coalesce(r.non_finite, false), r.decoded_seconds,
       r.analyzed_seconds, r.lufs, r.lra, r.true_peak_db, r.bpm, r.bpm_confidence, r.bpm_alt, r.key_pitch_class,
       r.key_mode, r.key_strength, r.key_name, r.key_camelot, r.key_agreement, r.key_edma, r.key_shaath, r.energy,
       r.danceability, r.dynamic_complexity, r.onset_rate, r.spectral_centroid, r.melody_voiced_ratio,
       r.melody_median_hz, r.melody_range, r.melody_spread, r.melody_motion, r.melody_turns, r.chord_change_rate,
       r.hpcp, r.fingerprint, r.embedding, r.embedding_version, r.cpu_ms, r.peak_rss_mb, now()
  from tracks t,
       jsonb_to_record(%(measured)s::jsonb)
    as r (status text, reason text, engine text, partial boolean, non_finite boolean, decoded_seconds real,
          analyzed_seconds real, lufs real, lra real, true_peak_db real, bpm real, bpm_confidence real, bpm_alt real,
          key_pitch_class smallint, key_mode text, key_strength real, key_name text, key_camelot text,
          key_agreement boolean, key_edma text, key_shaath text, energy real, danceability real,
          dynamic_complexity real, onset_rate real, spectral_centroid real, melody_voiced_ratio real,
          melody_median_hz real, melody_range real, melody_spread real, melody_motion real, melody_turns real,
          chord_change_rate real, hpcp real[], fingerprint text, embedding real[],
          embedding_version integer, cpu_ms integer, peak_rss_mb integer)
 where t.id = %(track_id)s
on conflict (track_id, analyzer) do update
   set analyzer_version = excluded.analyzer_version, source_size = excluded.source_size,
       source_mtime_ns = excluded.source_mtime_ns, status = excluded.status, reason = excluded.reason,
       engine = excluded.engine, partial = excluded.partial, non_finite = excluded.non_finite,
       decoded_seconds = excluded.decoded_seconds, analyzed_seconds = excluded.analyzed_seconds,
       lufs = excluded.lufs, lra = excluded.lra, true_peak_db = excluded.true_peak_db, bpm = excluded.bpm,
       bpm_confidence = excluded.bpm_confidence, bpm_alt = excluded.bpm_alt,
       key_pitch_class = excluded.key_pitch_class, key_mode = excluded.key_mode,
       key_strength = excluded.key_strength, key_name = excluded.key_name, key_camelot = excluded.key_camelot,
       key_agreement = excluded.key_agreement, key_edma = excluded.key_edma, key_shaath = excluded.key_shaath,
       energy = excluded.energy, danceability = excluded.danceability,
       dynamic_complexity = excluded.dynamic_complexity, onset_rate = excluded.onset_rate,
       spectral_centroid = excluded.spectral_centroid, melody_voiced_ratio = excluded.melody_voiced_ratio,
       melody_median_hz = excluded.melody_median_hz, melody_range = excluded.melody_range,
       melody_spread = excluded.melody_spread, melody_motion = excluded.melody_motion,
       melody_turns = excluded.melody_turns, chord_change_rate = excluded.chord_change_rate, hpcp = excluded.hpcp,
       fingerprint = excluded.fingerprint, embedding = excluded.embedding,
       embedding_version = excluded.embedding_version,
       cpu_ms = excluded.cpu_ms, peak_rss_mb = excluded.peak_rss_mb, analyzed_at = excluded.analyzed_at
 where excluded.analyzer_version >= track_audio_features.analyzer_version

-- name: set_features_ready
update tracks
   set audio_features_ready = exists (
           select from track_audio_features f
            where f.track_id = tracks.id and f.status = 'ok'
              and f.source_size = tracks.size and f.source_mtime_ns = tracks.mtime_ns)
 where id = %(track_id)s
