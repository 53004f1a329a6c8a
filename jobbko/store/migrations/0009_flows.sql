-- Flows: fan-in, and what a person may do to jobs of one flow or one subject.

create table flow_barrier (
    id         uuid primary key,
    branches   integer     not null check (branches > 0),
    fired_at   timestamptz,
    created_at timestamptz not null default clock_timestamp()
);

create table flow_arrival (
    barrier uuid    not null references flow_barrier (id) on delete cascade,
    branch  uuid    not null,
    done    boolean not null,  -- false: it ended dead or cancelled
    primary key (barrier, branch)
);

-- A branch has ended: its last step is done, or one of its steps is dead. The last one to arrive sends what follows,
-- in the same transaction. The barrier's row is locked, so two cannot both take themselves for the last but one.
create function flow_arrive() returns trigger language plpgsql as $$
declare
    waiting flow_barrier;
    arrived bigint;
    failed bigint;
    callback jsonb;
begin
    if new.state = 'done' and new.id <> new.branch then return null; end if;
    select * into waiting from flow_barrier where id = new.barrier for update;
    if not found then return null; end if;
    insert into flow_arrival (barrier, branch, done) values (new.barrier, new.branch, new.state = 'done')
    on conflict (barrier, branch) do update set done = excluded.done;
    if waiting.fired_at is not null then return null; end if;
    select count(*), count(*) filter (where not done) into arrived, failed from flow_arrival where barrier = new.barrier;
    if arrived < waiting.branches then return null; end if;
    for callback in
        select value from jsonb_array_elements(
            jsonb_path_query_first(new.options, 'strict $.**.group_completion_callbacks'))
    loop
        continue when callback #>> '{options,fan_in}' = 'done' and failed > 0;
        insert into job_queue (id, message, queue_name, collection_node_id, flow_id, parent_id, step)
        values ((callback ->> 'message_id')::uuid, callback, callback ->> 'queue_name', new.collection_node_id,
                new.flow_id, new.id, new.step + 1)
        on conflict (id) do nothing;
    end loop;
    -- With failures, a callback that wants all branches done goes on waiting for the dead ones to be requeued.
    if failed = 0 or not new.options @? 'strict $.**.group_completion_callbacks[*].options.fan_in ? (@ == "done")' then
        update flow_barrier set fired_at = clock_timestamp() where id = new.barrier;
    end if;
    return null;
end $$;

create trigger flow_arrive after update of state on job_queue for each row
    when (new.barrier is not null and new.state in ('done', 'rejected') and new.state is distinct from old.state)
    execute function flow_arrive();

-- Cancel what is left of a flow; how many jobs that ended or will.
create function cancel_flow(flow uuid) returns bigint language sql as $$
    select count(*) filter (where cancel_job(id)) from job_queue
     where (id = flow or flow_id = flow and parent_id is not null) and state in ('queued', 'consumed')
$$;

-- Put back the dead and cancelled steps of a flow; it goes on from there.
create function retry_flow(flow uuid) returns bigint language sql as $$
    select count(*) filter (where retry_job(id)) from job_queue
     where (id = flow or flow_id = flow and parent_id is not null) and state = 'rejected'
$$;

-- Hold the waiting jobs of a subject, and those that are sent meanwhile; how many waited.
create function hold_jobs(of_subject text) returns bigint language plpgsql as $$
declare
    count bigint;
begin
    insert into job_hold (subject) values (of_subject) on conflict do nothing;
    update job_queue set held = true, due = false where subject = of_subject and state = 'queued' and not held;
    get diagnostics count = row_count;
    return count;
end $$;

-- Let them go on, each at its own time.
create function release_jobs(of_subject text) returns bigint language plpgsql as $$
declare
    count bigint;
begin
    delete from job_hold where subject = of_subject;
    update job_queue set held = false, due = scheduled_for <= clock_timestamp()
     where subject = of_subject and state = 'queued' and held;
    get diagnostics count = row_count;
    perform pg_notify('jobbko', '');
    return count;
end $$;

-- A waiting job becomes more or less urgent. False if it does not wait.
create function prioritize_job(job uuid, new_priority smallint) returns boolean language plpgsql as $$
begin
    update job_queue set priority = new_priority where id = job and state = 'queued';
    return found;
end $$;

-- A scheduled job is due now. False if it does not wait, or is held.
create function run_job_now(job uuid) returns boolean language plpgsql as $$
declare
    waits boolean;
begin
    update job_queue set due = true, scheduled_for = least(scheduled_for, clock_timestamp())
     where id = job and state = 'queued' and not held;
    waits := found;
    if waits then perform pg_notify('jobbko', ''); end if;
    return waits;
end $$;

-- Enqueue from any language, with everything that an INSERT cannot say: the id of the job, or of the equal one that
-- waits already.
create function enqueue_job(job_type text, payload jsonb default '{}', priority integer default null,
                            delay interval default null, dedupe_key text default null, collection uuid default null,
                            subject text default null) returns uuid language plpgsql as $$
#variable_conflict use_column
declare
    job uuid;
    owner uuid := coalesce(enqueue_job.collection, '00000000-0000-0000-0000-000000000001');
begin
    insert into job_queue as q (job_type, payload, priority, scheduled_for, dedupe_key, collection_node_id, subject, held)
    values (enqueue_job.job_type, enqueue_job.payload, enqueue_job.priority::smallint,
            clock_timestamp() + coalesce(enqueue_job.delay, '0'), enqueue_job.dedupe_key, owner, enqueue_job.subject,
            enqueue_job.subject is not null
            and exists (select from job_hold h where h.subject = enqueue_job.subject))
    -- The one that waits is locked until the caller commits, so that it does not start before her data can be seen.
    on conflict (collection_node_id, dedupe_key) where dedupe_key is not null and state = 'queued'
    do update set mtime = q.mtime where false
    returning q.id into job;
    if job is null then
        select q.id into job from job_queue q
         where q.collection_node_id = owner and q.state = 'queued'
           and q.dedupe_key = coalesce(enqueue_job.dedupe_key,
                                       job_dedupe_key(enqueue_job.job_type, enqueue_job.payload, null));
    end if;
    return job;
end $$;
