-- Vectors of passages, a model beside the other, and searching by them.

-- name: known
select chunk_no, start_ms, content_hash, vector from embeddings where node_id = %(node_id)s and model = %(model)s

-- name: add_model
insert into embedding_model (model, dims) values (%(model)s, %(dims)s) on conflict (model) do nothing

-- name: set
insert into embeddings (collection_node_id, node_id, model, chunk_no, start_ms, text, content_hash, vector)
values (%(collection)s, %(node_id)s, %(model)s, %(chunk_no)s, %(start_ms)s, %(text)s, %(content_hash)s,
        %(vector)s::real[])
on conflict (node_id, model, chunk_no) do update
   set start_ms = excluded.start_ms, text = excluded.text, content_hash = excluded.content_hash,
       vector = excluded.vector, created_at = now()

-- name: drop_after
delete from embeddings where node_id = %(node_id)s and model = %(model)s and chunk_no >= %(count)s

-- name: search
select s.node_id, n.title, s.chunk_no, s.start_ms, s.text, s.similarity
  from search_embeddings(%(collection)s, %(model)s, %(near)s::real[], %(limit)s) s join nodes n on n.id = s.node_id
 order by s.similarity desc, s.node_id, s.chunk_no

-- name: index
select index_embeddings(%(model)s)
