-- What listeners do not want, on its way out.

-- name: to_warn
-- Not those whose file is away, or which somebody else likes; each track once, however many dislike it.
select d.id, d.track_id, d.collection_node_id, t.title, t.artist_credit, t.path_text
  from dislikes d
  join tracks t on t.id = d.track_id
 where d.state = 'hidden' and d.disliked_at < now() - %(after)s::real * interval '1 second' and t.state = 'ACTIVE'
 order by d.disliked_at, d.id
 limit %(limit)s

-- name: set_warned
update dislikes set state = 'warned', warned_at = clock_timestamp() where id = any(%(ids)s::uuid[]) and state = 'hidden'

-- name: keep_liked
update dislikes d
   set state = 'kept', warned_at = null
 where d.state in ('hidden', 'warned')
   and exists (select from likes l where l.track_id = d.track_id and l.user_id <> d.user_id)

-- name: release_kept
-- Whoever liked it does so no more: its time starts anew.
update dislikes d
   set state = 'hidden', disliked_at = now()
 where d.state = 'kept'
   and not exists (select from likes l where l.track_id = d.track_id and l.user_id <> d.user_id)

-- name: doomed
select d.id
  from dislikes d
  join tracks t on t.id = d.track_id
 where d.state = 'warned' and d.warned_at < now() - %(after)s::real * interval '1 second' and t.state = 'ACTIVE'
 order by d.warned_at, d.id
 limit %(limit)s

-- name: lock_doomed
-- Everything once more, under a lock: it may have been taken back, or found a friend, since it was listed.
select d.id, d.track_id, d.collection_node_id, r.path as root, t.path, t.path_text, t.size, t.mtime_ns, t.content_hash,
       t.title, t.artist_credit
  from dislikes d
  join tracks t on t.id = d.track_id
  join library_roots r on r.collection_node_id = t.collection_node_id
 where d.id = %(id)s and d.state = 'warned' and d.warned_at < now() - %(after)s::real * interval '1 second'
   and t.state = 'ACTIVE'
   and not exists (select from likes l where l.track_id = d.track_id and l.user_id <> d.user_id)
   for update of d, t skip locked

-- name: bury
with gone as (
    delete from tracks where id = %(track_id)s
    returning collection_node_id, content_hash, path_text, title, artist_credit, mb_recording_id
)
insert into track_tombstones (collection_node_id, content_hash, path_text, title, artist_credit, mb_recording_id,
                              trash_path)
select collection_node_id, content_hash, path_text, title, artist_credit, mb_recording_id, %(trash_path)s from gone
on conflict (collection_node_id, content_hash) do update
   set deleted_at = now(), path_text = excluded.path_text, trash_path = excluded.trash_path

-- name: set_error
update dislikes set error = %(error)s where id = %(id)s

-- name: buried
select content_hash
  from track_tombstones
 where collection_node_id = %(collection)s and content_hash = any(%(hashes)s::bytea[])

-- name: listing
select d.id, d.state, d.user_id, d.disliked_at, d.warned_at, d.error, t.title, t.artist_credit, t.path_text,
       case d.state when 'hidden' then d.disliked_at + %(warn_after)s::real * interval '1 second'
                    when 'warned' then d.warned_at + %(delete_after)s::real * interval '1 second' end as next_at
  from dislikes d
  join tracks t on t.id = d.track_id
 order by next_at nulls last, d.id

-- name: tombstones
select id, title, artist_credit, path_text, trash_path, deleted_at
  from track_tombstones
 order by deleted_at desc, id

-- name: forget_tombstone
delete from track_tombstones where id = %(id)s

-- name: undo
delete from dislikes where id = %(id)s
