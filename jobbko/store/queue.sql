-- What the engine says to the queue. The functions are in migrations/0003_turn.sql, where their order is explained.

-- name: turn
select * from job_turn(%(done_ids)s::uuid[], %(done_tokens)s::uuid[], %(ended)s::jsonb, %(following)s::jsonb,
                       %(types)s::text[], %(want)s, %(worker)s::uuid, make_interval(secs => %(lease)s),
                       %(served)s::text[], %(promote)s)

-- name: add
select job_add(%(jobs)s::jsonb, null, %(keyed)s)

-- name: equal_waiting
select id
  from job_queue
 where collection_node_id = coalesce(%(collection)s::uuid, '00000000-0000-0000-0000-000000000001')
   and dedupe_key = case when %(dedupe)s then job_dedupe_key(%(job_type)s, %(payload)s::jsonb, %(following)s)
                         else %(dedupe_key)s end
   and (state = 'queued' or until_done and state = 'consumed')
 limit 1

-- name: renew
-- A row that its own job has locked (it is just completing) is ours all the same; to wait for it would hold up the
-- renewal of all the others, and no sweep can take it meanwhile.
with ours as (
    select j.id, j.cancelled
      from unnest(%(ids)s::uuid[], %(tokens)s::uuid[]) held (id, token)
      join job_queue j on j.id = held.id and j.lease_token = held.token and j.state = 'consumed'
),
free as (
    select id from job_queue where id in (select id from ours) and state = 'consumed' for update skip locked
),
renewed as (
    update job_queue j set lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
      from free where j.id = free.id and j.lease_token = any (%(tokens)s::uuid[])
)
select id, cancelled from ours

-- name: give_back
-- What this worker leased in a turn whose answer it never saw. What somebody else has locked has to wait for its lease.
with unseen as (
    select id, lease_token from job_queue
     where state = 'consumed' and worker = %(worker)s and lease_token <> all (%(tokens)s::uuid[])
       for update skip locked
)
select job_end(jsonb_agg(jsonb_build_object('id', id, 'token', lease_token, 'state', 'queued', 'charge', 0)))
  from unseen
having count(*) > 0

-- name: expired
select id from job_queue where state = 'consumed' and lease_until < (select clock_timestamp()) limit 100

-- name: sweep
-- A lease that ran out: its worker died, and the job is charged for it, since it may have been the cause. It is not if
-- the server itself came up after the lease was last renewed: then nobody could have renewed it.
with lost as (
    select id, lease_token, attempts, max_attempts, started_at, worker, cancelled,
           pg_postmaster_start_time() < lease_until - make_interval(secs => %(lease)s) as charged
      from job_queue
     where id = any (%(ids)s::uuid[]) and state = 'consumed' and lease_until < (select clock_timestamp())
       for update skip locked
)
select job_end(jsonb_agg(jsonb_build_object(
           'id', id, 'token', lease_token,
           'state', case when cancelled or charged and attempts + 1 >= max_attempts then 'rejected' else 'queued' end,
           'charge', charged::int,
           -- At once the first time; then with growing pauses, so that innocent neighbours of a job that kills its
           -- worker get to run without it.
           'delay', case when charged and attempts > 0 then %(backoff)s * 2 ^ (attempts - 1) else 0 end,
           'error', 'the worker that ran this job died or was cut off',
           'outcome', case when not charged then 'refunded' when attempts + 1 >= max_attempts then 'dead'
                           else 'retry' end,
           'class', 'crashed')))
  from lost
having count(*) > 0

-- name: running
select j.id
  from unnest(%(ids)s::uuid[], %(tokens)s::uuid[]) held (id, token)
  join job_queue j on j.id = held.id and j.lease_token = held.token and j.state = 'consumed' and not j.cancelled

-- name: hold
select case when cancelled then 'cancelled' else 'held' end
  from job_queue
 where id = %(id)s and lease_token = %(token)s and state = 'consumed'
   for update

-- name: complete
select job_complete(%(id)s, %(token)s, %(result)s::jsonb)

-- name: progress
update job_queue set progress = %(progress)s::jsonb
 where id = %(id)s and lease_token = %(token)s and state = 'consumed'

-- name: open_barrier
insert into flow_barrier (id, branches, callbacks) values (%(id)s, %(branches)s, %(callbacks)s::jsonb)
on conflict do nothing

-- name: ring
select pg_notify('jobbko', '')

-- name: unfinished
select count(*) from job_queue
 where (%(queue)s::text is null or queue_name = %(queue)s) 
   and (state = 'consumed' or state = 'queued' and not held and (due or scheduled_for <= clock_timestamp()))

-- name: flush
delete from job_queue where (%(queue)s::text is null or queue_name = %(queue)s) and state = 'queued'

-- name: outcome
select status::text as status, result, error_msg from job_queue where id = %(id)s

-- name: publish_limits
insert into job_limit as l (name, max_running, per_collection)
select * from unnest(%(names)s::text[], %(most)s::integer[], %(each)s::integer[]) x (name, most, per_collection)
 order by name
on conflict (name) do update set max_running = excluded.max_running, per_collection = excluded.per_collection
 where (l.max_running, l.per_collection) is distinct from (excluded.max_running, excluded.per_collection)
   and not l.by_hand

-- name: publish
insert into job_type as t (name, queue_name, priority, max_attempts, gates, limit_name, dedupe, until_done,
                           every_collection, parameters, required, accepts_any, all_named)
select name, queue_name, priority, max_attempts, gates, limit_name, dedupe, until_done, every_collection, parameters,
       required, accepts_any, all_named
  from jsonb_to_recordset(%(types)s::jsonb) as x (
           name text, queue_name text, priority smallint, max_attempts smallint, gates text[], limit_name text,
           dedupe boolean, until_done boolean, every_collection boolean, parameters text[], required text[], accepts_any boolean, all_named boolean)
 order by name
on conflict (name) do update
   set queue_name = excluded.queue_name, priority = excluded.priority, max_attempts = excluded.max_attempts,
       gates = excluded.gates, limit_name = excluded.limit_name, dedupe = excluded.dedupe,
       until_done = excluded.until_done, every_collection = excluded.every_collection, parameters = excluded.parameters, required = excluded.required, accepts_any = excluded.accepts_any,
       all_named = excluded.all_named,
       published_at = now()
 where (t.queue_name, t.priority, t.max_attempts, t.gates, t.limit_name, t.dedupe, t.until_done, t.every_collection, t.parameters, t.required,
        t.accepts_any, t.all_named)
       is distinct from
       (excluded.queue_name, excluded.priority, excluded.max_attempts, excluded.gates, excluded.limit_name,
        excluded.dedupe, excluded.until_done, excluded.every_collection, excluded.parameters, excluded.required, excluded.accepts_any,
        excluded.all_named)

-- name: worker_started
insert into worker (id, host, pid, threads, job_types)
values (%(id)s, %(host)s, %(pid)s, %(threads)s, %(job_types)s)
on conflict (id) do update set heartbeat_at = clock_timestamp(), stopped_at = null

-- name: worker_alive
update worker set heartbeat_at = clock_timestamp() where id = %(id)s

-- name: worker_stopped
update worker set stopped_at = clock_timestamp() where id = %(id)s
