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
        select j.id, j.attempts, j.worker, j.started_at,
               j.subject is not null and exists (
                   select from job_hold h
                    where h.subject = j.subject and h.collection_node_id = j.collection_node_id) as held
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
               attempts = least(j.attempts + coalesce(i.charge, 0), 32767),
               due = i.state <> 'queued' or coalesce(i.delay, 0) <= 0 and not o.held,
               held = i.state = 'queued' and o.held,
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
        select o.id, least(o.attempts + 1, 32767), o.worker, o.started_at, i.outcome, coalesce(i.class, 'internal'), i.error,
               i.traceback
          from old o join item i on i.id = o.id
         where i.outcome is not null
    )
    select id from changed;
end $$;

-- The engine's way in: jobs it has checked itself, as one JSON array. Returns the ids of the rows that are new or moved.
-- An id that exists is left alone. parents: only what follows these; keyed: some have a key, and may have equals.
create function job_add(jobs jsonb, parents uuid[], keyed boolean) returns setof uuid language plpgsql as $$
begin
    if keyed then
        return query select job_add_keyed(jobs, parents);
        return;
    end if;
    return query
    insert into job_queue as q (
        id, collection_node_id, job_type, payload, args, options, priority, max_attempts, gates, lane, scheduled_for, due,
        held, queue_name, subject, flow_id, parent_id, step, in_flow, barrier, branch, tell, created_at)
    select j.id, coalesce(j.collection, '00000000-0000-0000-0000-000000000001'), j.job_type, j.payload, j.args, j.options,
           j.priority, j.max_attempts, coalesce(j.gates, '{}'), coalesce(array_to_string(j.gates, '+'), ''),
           clock.at + coalesce(j.delay, 0) * interval '1 second', coalesce(j.delay, 0) <= 0, false,
           j.queue_name, j.subject, coalesce(j.flow_id, j.id), j.parent_id, coalesce(j.step, 1),
           coalesce(j.in_flow, false), j.barrier, j.branch, coalesce(j.tell, false), clock.at
      from (select clock_timestamp() at) clock,
           jsonb_to_recordset(jobs) as j (
               id uuid, collection uuid, job_type text, payload jsonb, args jsonb, options jsonb, priority smallint,
               max_attempts smallint, gates text[], delay double precision, queue_name text, subject text, flow_id uuid,
               parent_id uuid, step smallint, in_flow boolean, barrier uuid, branch uuid, tell boolean)
     where parents is null or j.parent_id = any (parents)
    on conflict (id) do nothing
    returning q.id;
end $$;

-- The same for jobs that may have equals. An equal job that waits is left alone, unless the new one says `debounce`: then
-- a reason of the same rank moves the waiting job to its own time, a stronger one takes its place, and a weaker one can
-- only make it earlier.
create function job_add_keyed(jobs jsonb, parents uuid[]) returns setof uuid language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
begin
    return query
    with given as (
        select j.*, clock.at,
               coalesce(j.collection, '00000000-0000-0000-0000-000000000001') as owner,
               -- A fan-in counts its branches, so none of them may be left out for an equal job, nor replaced by one.
               case when j.barrier is not null then null
                    when j.dedupe then job_dedupe_key(j.job_type, j.payload, j.following)
                    else j.dedupe_key end as key
          from rows from (jsonb_to_recordset(jobs) as (
                   id uuid, collection uuid, job_type text, payload jsonb, args jsonb, options jsonb, priority smallint,
                   max_attempts smallint, gates text[], delay double precision, queue_name text, dedupe boolean,
                   following text, dedupe_key text, until_done boolean, rank smallint, debounce boolean, subject text,
                   flow_id uuid, parent_id uuid, step smallint, in_flow boolean, barrier uuid, branch uuid,
                   tell boolean))
               with ordinality j (
                   id, collection, job_type, payload, args, options, priority, max_attempts, gates, delay, queue_name,
                   dedupe, following, dedupe_key, until_done, rank, debounce, subject, flow_id, parent_id, step, in_flow,
                   barrier, branch, tell, n),
               (select clock_timestamp() at) clock
         where parents is null or j.parent_id = any (parents)
    ),
    -- One statement cannot move a row twice: of equal jobs in one call the strongest counts, of those the last.
    chosen as (
        select * from given where key is null
        union all
        select * from (
            select distinct on (owner, key) * from given where key is not null
             order by owner, key, coalesce(rank, 0) desc, n desc) equal_ones
    )
    insert into job_queue as q (
        id, collection_node_id, job_type, payload, args, options, priority, max_attempts, gates, lane, scheduled_for, due,
        held, queue_name, dedupe_key, until_done, rank, subject, flow_id, parent_id, step, in_flow, barrier, branch,
        tell, created_at)
    select j.id, j.owner, j.job_type, j.payload, j.args, j.options, j.priority, j.max_attempts, coalesce(j.gates, '{}'),
           coalesce(array_to_string(j.gates, '+'), ''), j.at + coalesce(j.delay, 0) * interval '1 second',
           coalesce(j.delay, 0) <= 0, false, j.queue_name, j.key, coalesce(j.until_done, false), coalesce(j.rank, 0), j.subject,
           coalesce(j.flow_id, j.id), j.parent_id, coalesce(j.step, 1), coalesce(j.in_flow, false),
           j.barrier, j.branch, coalesce(j.tell, false), j.at
      from chosen j
     where not exists (select from job_queue same where same.id = j.id)
       and not (coalesce(j.until_done, false) and exists (
               select from job_queue running
                where running.collection_node_id = j.owner and running.dedupe_key = j.key and running.until_done
                  and running.state = 'consumed'))
     -- As they were given; those with a key in the key's order, so that two calls cannot wait for each other.
     order by j.key, j.owner, j.n
    on conflict (collection_node_id, dedupe_key) where dedupe_key is not null and state = 'queued' do update
       set job_type = case when excluded.rank > q.rank then excluded.job_type else q.job_type end,
           payload = case when excluded.rank > q.rank then excluded.payload else q.payload end,
           args = case when excluded.rank > q.rank then excluded.args else q.args end,
           options = case when excluded.rank > q.rank then excluded.options else q.options end,
           gates = case when excluded.rank > q.rank then excluded.gates else q.gates end,
           lane = case when excluded.rank > q.rank then excluded.lane else q.lane end,
           queue_name = case when excluded.rank > q.rank then excluded.queue_name else q.queue_name end,
           max_attempts = case when excluded.rank > q.rank then excluded.max_attempts else q.max_attempts end,
           -- A new reason is a new job: what went wrong with the old one does not count against it.
           attempts = case when excluded.rank > q.rank then 0 else q.attempts end,
           priority = greatest(excluded.priority, q.priority),
           rank = greatest(excluded.rank, q.rank),
           scheduled_for = case when excluded.rank >= q.rank then excluded.scheduled_for
                                else least(excluded.scheduled_for, q.scheduled_for) end,
           due = not q.held and case when excluded.rank >= q.rank then excluded.scheduled_for
                                     else least(excluded.scheduled_for, q.scheduled_for) end <= clock_timestamp()
     where exists (select from chosen j where j.owner = q.collection_node_id and j.key = q.dedupe_key and j.debounce)
       -- With a flow's first step its whole rest would go.
       and (q.options -> 'pipe_target' is null or excluded.options -> 'pipe_target' is not null)
    returning q.id;
end $$;

-- A doorbell for whoever sent a job with `tell`: look at its row. Every login may listen there, so it says no more than
-- that something has happened, once for each transaction; who may see what is up to the table.
create function job_tell() returns trigger language plpgsql as $$
begin
    perform pg_notify('jobbko_events', '');
    return null;
end $$;

create trigger job_tell after update of state on job_queue for each row
    when (new.tell and new.status is distinct from old.status) execute function job_tell();
