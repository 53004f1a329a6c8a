-- Gates as people and the engine see them. What closes and opens them is in migrations/0006_gates.sql.

-- name: listing
select gate, closed, reason, since, resume_at, streak, probing, note, owner,
       (select count(*) from job_queue j
         where j.state = 'queued'
           and (s.gate = any (j.gates) or s.gate in ('all', 'type:' || j.job_type, 'collection:' || j.collection_node_id)))
       as waiting
  from queue_state s
 where closed or %(all)s
 order by closed desc, gate

-- name: closed
-- Not for the job that tries; and a thread that cannot say for which job it asks is taken to be its.
select gate, reason, resume_at from queue_state
 where gate = %(gate)s and closed and (not probing or probe <> %(job)s::uuid)

-- name: pause
select gate_close(%(gate)s, 'manual', null, %(until)s::timestamptz, %(note)s, %(owner)s)

-- name: resume
select gate_open(%(gate)s, %(owner)s)

-- name: take
select rate_take(%(service)s)

-- name: rates
select service, per_second from service_rate order by service

-- name: set_rate
insert into service_rate (service, per_second) values (%(service)s, %(per_second)s)
on conflict (service) do update set per_second = excluded.per_second

-- name: events
select at, gate, event, reason, resume_at, note, owner from queue_event
 where %(gate)s::text is null or gate = %(gate)s
 order by id desc limit %(limit)s

-- name: to_announce
update queue_event set announced_at = clock_timestamp()
 where id = any (array(select id from queue_event where announce and announced_at is null order by id limit 10
                          for update skip locked))
returning gate, reason, resume_at
