-- Nodes and the edges between them.

-- name: node
select id, coalesce(collection_node_id, id) as collection_node_id, kind, title, content, metadata
  from nodes where id = %(id)s

-- name: metadata
select metadata from nodes where id = %(id)s

-- name: add
insert into nodes (collection_node_id, kind, title, content, metadata)
values (%(collection)s, %(kind)s, %(title)s, %(content)s, %(metadata)s)
returning id

-- name: set_metadata
-- Only what is named; a title only where the owner has given none.
update nodes
   set metadata = metadata || %(metadata)s,
       title = case when title = '' then %(title)s else title end, updated_at = now()
 where id = %(id)s

-- name: linked
-- What has an edge of that kind to the node, or from it, oldest first.
select n.id, n.collection_node_id, n.kind, n.title, n.content, n.metadata
  from edges e join nodes n on n.id = case when %(backwards)s then e.source_id else e.target_id end
 where case when %(backwards)s then e.target_id else e.source_id end = %(id)s
   and e.kind = %(kind)s and e.state <> 'rejected'
 order by n.created_at, n.id

-- name: named
-- A topic or a person, as it is written here, made if it is new.
insert into nodes (collection_node_id, kind, title, metadata)
values (%(collection)s, %(kind)s, %(title)s, '{"proposed": true}')
on conflict (collection_node_id, kind, lower(title)) where kind in ('topic', 'person')
    do update set title = nodes.title
returning id

-- name: names
select title from nodes where collection_node_id = %(collection)s and kind = %(kind)s
 order by created_at, id limit %(limit)s

-- name: propose
-- An edge that is there, whatever was decided about it, stays as it is.
insert into edges (collection_node_id, source_id, target_id, kind, origin, state, quote, model_run_id)
values (%(collection)s, %(source)s, %(target)s, %(kind)s, %(origin)s, %(state)s, %(quote)s, %(run)s)
on conflict (source_id, target_id, kind) do nothing

-- name: set_suggest_min_chars
update graph_setting set suggest_min_chars = %(chars)s where suggest_min_chars <> %(chars)s

-- name: media
-- The recording of that file, made if it is new.
insert into nodes (collection_node_id, kind, metadata)
values (%(collection)s, 'media', jsonb_build_object('audio_path', %(path)s::text))
on conflict (collection_node_id, (metadata ->> 'audio_path')) where kind = 'media' and metadata ? 'audio_path'
    do update set updated_at = nodes.updated_at
returning id
