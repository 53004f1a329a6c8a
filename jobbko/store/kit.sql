-- What the test kit asks of the queue.

-- name: waiting
select id, job_type, payload, priority, dedupe_key, subject, collection_node_id as collection,
       greatest(extract(epoch from scheduled_for - clock_timestamp()), 0)::float8 as due_in
  from job_queue
 where state = 'queued' and (%(job_type)s::text is null or job_type = %(job_type)s)
 order by seq

-- name: time_passes
update job_queue
   set scheduled_for = scheduled_for - make_interval(secs => %(seconds)s),
       lease_until = lease_until - make_interval(secs => %(seconds)s)
 where state in ('queued', 'consumed')

-- name: time_passes_at_gates
update queue_state set resume_at = resume_at - make_interval(secs => %(seconds)s) where resume_at is not null
