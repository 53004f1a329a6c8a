-- What models made of something, version by version, beside the owner's own.

-- name: current
select subject_id, kind, version, text, payload, producer, prompt, coalesce(input_sha256, '') as input_sha256
  from derived
 where collection_node_id = %(collection)s and subject_type = %(subject_type)s and subject_id = %(subject_id)s
   and kind = %(kind)s and superseded_at is null

-- name: supersede
update derived set superseded_at = clock_timestamp()
 where collection_node_id = %(collection)s and subject_type = %(subject_type)s and subject_id = %(subject_id)s
   and kind = %(kind)s and superseded_at is null

-- name: add
insert into derived (collection_node_id, subject_type, subject_id, kind, version, format, text, payload, producer, prompt,
                     input_sha256, model_run_id)
select %(collection)s, %(subject_type)s, %(subject_id)s, %(kind)s, 1 + coalesce(max(version), 0), %(format)s, %(text)s,
       %(payload)s, %(producer)s, %(prompt)s, %(input_sha256)s, %(run)s
  from derived
 where collection_node_id = %(collection)s and subject_type = %(subject_type)s and subject_id = %(subject_id)s
   and kind = %(kind)s
returning version
