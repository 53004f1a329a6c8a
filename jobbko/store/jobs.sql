-- Jobs as a person looks at them.

-- name: listing
select id, job_type, status::text as status, priority, attempts, max_attempts, created_at, started_at, completed_at,
       scheduled_for, error_msg, payload, progress, collection_node_id
  from job_queue
 where (%(status)s::text is null or status = %(status)s::job_status)
   and (%(job_type)s::text is null or job_type = %(job_type)s)
 order by seq desc
 limit %(limit)s

-- name: counts
select job_type, status::text as status, count(*) as jobs from job_queue group by 1, 2 order by 1, 2

-- name: job
select id, job_type, status::text as status, priority, attempts, max_attempts, created_at, started_at, completed_at,
       scheduled_for, error_msg, payload, progress, result, collection_node_id, gates, subject, dedupe_key, flow_id,
       parent_id, step, worker, lease_until
  from job_queue
 where id = %(id)s

-- name: matching
select id from job_queue where id::text like %(prefix)s || '%%' limit 3

-- name: attempts
select attempt, outcome, class as kind, worker, started_at, ended_at, message, traceback
  from job_attempt
 where job_id = %(id)s
 order by started_at, ended_at nulls last

-- name: flow_counts
select status::text, count(*) from job_queue
 where id = %(flow_id)s or flow_id = %(flow_id)s and parent_id is not null
 group by 1

-- name: flow
select id, job_type, status::text as status, step, parent_id
  from job_queue
 where id = %(flow_id)s or (flow_id = %(flow_id)s and parent_id is not null)
 order by step, seq
 limit 200

-- name: retry
select retry_job(%(id)s)

-- name: cancel
select cancel_job(%(id)s)

-- name: live_workers
select count(*) from worker
 where stopped_at is null and heartbeat_at > clock_timestamp() - make_interval(secs => %(lease)s)

-- name: workers
select id, host, pid, threads, job_types, started_at, heartbeat_at, stopped_at,
       extract(epoch from clock_timestamp() - heartbeat_at)::float8 as silent_for
  from worker
 where coalesce(stopped_at, heartbeat_at) > clock_timestamp() - interval '1 day'
 order by started_at desc

-- name: server
select current_setting('server_version') as version, current_setting('server_version_num')::integer as number,
       extract(epoch from clock_timestamp())::float8 as clock

-- name: dead
-- Messages that differ only in an id are one: that is what a person wants to know.
select job_type, regexp_replace(coalesce(error_msg, ''), '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
                                '…', 'g') as message,
       count(*) as jobs, min(completed_at) as first_at, max(completed_at) as last_at,
       (array_agg(id order by completed_at desc))[1] as latest_id
  from job_queue
 where status = 'error' and (%(job_type)s::text is null or job_type = %(job_type)s)
 group by 1, 2
 order by jobs desc, 1, 2

-- name: dead_ids
select id from job_queue
 where status = 'error' and (%(job_type)s::text is null or job_type = %(job_type)s)
   and (%(match)s::text is null or position(lower(%(match)s) in lower(coalesce(error_msg, ''))) > 0)
 order by id

-- name: retry_dead
-- A batch; what somebody else has locked or put back meanwhile is left alone.
select count(*) filter (where retry_job(id))
  from (select id from job_queue where id = any (%(ids)s::uuid[]) and status = 'error'
         order by id for update skip locked) free

-- name: collection
select exists (select from nodes where id = %(id)s and collection_node_id is null)

-- name: known_gates
select name from (select unnest(gates) as name from job_type union select gate from queue_state) known
 where name <> 'all' and name not like 'type:%%' and name not like 'collection:%%'
 order by name

-- name: limits
select l.name, l.max_running, l.by_hand,
       coalesce((select array_agg(t.name order by t.name) from job_type t where t.limit_name = l.name), '{}') as job_types,
       (select count(*) from job_queue j join job_type t on t.name = j.job_type
         where j.state = 'consumed' and t.limit_name = l.name) as running
  from job_limit l
 order by l.name

-- name: set_limit
update job_limit set max_running = coalesce(%(most)s::integer, max_running), by_hand = %(most)s::integer is not null
 where name = %(name)s

-- name: flows
-- The latest flows of more than one job: found by their later steps, which alone are in the index job_flow.
with latest as (
    select flow_id, max(seq) as seq
      from (select flow_id, seq from job_queue where parent_id is not null order by seq desc limit 5000) steps
     group by flow_id order by seq desc limit %(limit)s
)
select l.flow_id as id, first.job_type, first.created_at, count(*) as jobs,
       jsonb_build_object(
           'pending', count(*) filter (where j.status = 'pending'), 'running', count(*) filter (where j.status = 'running'),
           'completed', count(*) filter (where j.status = 'completed'), 'error', count(*) filter (where j.status = 'error'),
           'retry', count(*) filter (where j.status = 'retry'),
           'cancelled', count(*) filter (where j.status = 'cancelled')) as counts
  from latest l
  join job_queue j on j.flow_id = l.flow_id and j.parent_id is not null or j.id = l.flow_id
  join job_queue first on first.id = l.flow_id
 group by l.flow_id, l.seq, first.job_type, first.created_at
 order by l.seq desc

-- name: cancel_flow
select cancel_flow(%(flow)s)

-- name: retry_flow
select retry_flow(%(flow)s)
