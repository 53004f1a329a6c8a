-- How a running job ends, and how the jobs come in that the engine has checked itself.

-- A running job ends. Each item: id, token, state, and what to write; only the holder of the lease token may.
-- Returns the ids that passed.
create function job_end(ended jsonb) returns setof uuid language plpgsql as $$
begin
    return query
    with item as (
        select * from jsonb_to_recordset(ended) as i (
            id uuid, token uuid, state text, result jsonb, charge integer, delay double precision, cancelled boolean,
            error text, outcome text, class text, traceback text, gate text)
    ),
    -- Going back to waiting while an equal job waits already, or goes back with it: one will do the work, the others
    -- are merged into it.
    merged as (
        select id from (
            select i.id,
                   row_number() over (partition by j.collection_node_id, j.dedupe_key order by j.seq) > 1
                   or exists (select from job_queue other
                               where other.collection_node_id = j.collection_node_id
                                 and other.dedupe_key = j.dedupe_key and other.state = 'queued') as superfluous
              from item i join job_queue j on j.id = i.id
             where i.state = 'queued' and j.dedupe_key is not null) returning_jobs
         where superfluous
    ),
    old as (
        select j.id, j.attempts, j.worker, j.started_at
          from item i join job_queue j on j.id = i.id and j.lease_token = i.token and j.state = 'consumed'
           for update of j
    ),
    changed as (
        update job_queue j
           set state = case when m.id is not null or j.cancelled and i.state <> 'done' then 'rejected'
                            else i.state end::dramatiq.state,
               cancelled = j.cancelled and i.state <> 'done' or m.id is not null or coalesce(i.cancelled, false),
               result = i.result,
               error_msg = case when m.id is not null then 'an equal job was already waiting'
                                when j.cancelled and i.state <> 'done' then 'cancelled' else i.error end,
               attempts = j.attempts + coalesce(i.charge, 0),
               due = i.state <> 'queued' or coalesce(i.delay, 0) <= 0,
               scheduled_for = case when i.state = 'queued' and i.delay is not null
                                    then clock_timestamp() + i.delay * interval '1 second' else j.scheduled_for end,
               completed_at = case when i.state = 'queued' and m.id is null and not j.cancelled then null
                                   else clock_timestamp() end,
               lease_token = null, lease_until = null, mtime = clock_timestamp(),
               progress = case when i.state = 'queued' then j.progress end,
               -- What it ran into it needs, whether it said so or not: it waits there from now on.
               gates = case when i.gate is null or i.gate = any (j.gates) then j.gates else j.gates || i.gate end,
               lane = case when i.gate is null or i.gate = any (j.gates) then j.lane
                           else array_to_string(j.gates || i.gate, '+') end
          from item i join old o on o.id = i.id left join merged m on m.id = i.id
         where j.id = i.id and j.lease_token = i.token and j.state = 'consumed'
        returning j.id
    ),
    logged as (
        insert into job_attempt_failed (job_id, attempt, worker, started_at, outcome, class, message, traceback)
        select o.id, o.attempts + 1, o.worker, o.started_at, i.outcome, coalesce(i.class, 'internal'), i.error,
               i.traceback
          from old o join item i on i.id = o.id
         where i.outcome is not null
    )
    select id from changed;
end $$;

-- The engine's way in: jobs it has checked itself, as one JSON array. Returns the ids that are new.
create function job_add(jobs jsonb, parents uuid[] default null) returns setof uuid language sql as $$
    insert into job_queue (id, collection_node_id, job_type, payload, args, options, priority, max_attempts, gates, lane,
                           scheduled_for, due, queue_name, dedupe_key, subject, flow_id, parent_id, step, in_flow,
                           created_at)
    select j.id, coalesce(j.collection, '00000000-0000-0000-0000-000000000001'), j.job_type, j.payload, j.args,
           j.options, j.priority, j.max_attempts, coalesce(j.gates, '{}'), coalesce(array_to_string(j.gates, '+'), ''),
           now.at + coalesce(j.delay, 0) * interval '1 second', coalesce(j.delay, 0) <= 0,
           j.queue_name,
           case when j.dedupe then job_dedupe_key(j.job_type, j.payload, j.following) else j.dedupe_key end,
           j.subject, coalesce(j.flow_id, j.id), j.parent_id, coalesce(j.step, 1), coalesce(j.in_flow, false), now.at
      from jsonb_to_recordset(jobs) as j (
               id uuid, collection uuid, job_type text, payload jsonb, args jsonb, options jsonb, priority smallint,
               max_attempts smallint, gates text[], delay double precision, queue_name text, dedupe boolean,
               following text, dedupe_key text, subject text, flow_id uuid, parent_id uuid, step smallint,
               in_flow boolean),
           (select clock_timestamp() at) now
     where parents is null or j.parent_id = any (parents)
    on conflict do nothing
    returning id
$$;
