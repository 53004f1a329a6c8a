-- Pieces of recordings that have been transcribed, until their recordings are.

-- name: find
select cues from heard_piece where collection_node_id = %(collection)s and sha256 = %(sha256)s

-- name: keep
insert into heard_piece (collection_node_id, sha256, cues) values (%(collection)s, %(sha256)s, %(cues)s)
on conflict (collection_node_id, sha256) do update set heard_at = now()

-- name: forget
-- Those of a recording that is done, and what jobs that never ended left behind.
delete from heard_piece
 where collection_node_id = %(collection)s and (sha256 = any(%(sha256)s) or heard_at < now() - interval '30 days')
