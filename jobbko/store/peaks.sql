-- Waveforms.

-- name: keep
insert into media_peaks (media_node_id, collection_node_id, sha256, length, duration_ms, dat)
values (%(media_node_id)s, %(collection)s, %(sha256)s, %(length)s, %(duration_ms)s, %(dat)s)
on conflict (media_node_id) do update
   set sha256 = excluded.sha256, length = excluded.length, duration_ms = excluded.duration_ms, dat = excluded.dat,
       created_at = now()
 where media_peaks.sha256 <> excluded.sha256
