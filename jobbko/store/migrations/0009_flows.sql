-- Flows: fan-in, and what a person may do to jobs of one flow or one subject.

create table flow_barrier (
    id         uuid primary key,
    branches   integer     not null check (branches > 0),
    callbacks  jsonb       not null default '[]' check (jsonb_typeof(callbacks) = 'array'),  -- jobs, as job_add takes them
    error      text,       -- why they could not be sent
    fired_at   timestamptz,
    created_at timestamptz not null default clock_timestamp()
);

create table flow_arrival (
    barrier uuid    not null references flow_barrier (id) on delete cascade,
    branch  uuid    not null,
    done    boolean not null,  -- false: it ended dead or cancelled, or was deleted
    primary key (barrier, branch)
);

-- "Does anything of this fan-in still live?" is one probe.
create index job_barrier on job_queue (barrier) where barrier is not null and state <> 'done';

-- If all branches have arrived, send what follows. The caller has locked the barrier's row, so two cannot both take
-- themselves for the last but one.
create function flow_fire(of_barrier uuid, flow uuid, parent uuid, next_step integer) returns void language plpgsql as $$
declare
    waiting flow_barrier;
    arrived bigint;
    failed bigint;
    following jsonb;
begin
    select * into waiting from flow_barrier where id = of_barrier;
    select count(*), count(*) filter (where not done) into arrived, failed from flow_arrival where barrier = of_barrier;
    if waiting.fired_at is not null or arrived < waiting.branches then return; end if;
    -- A callback whose own collection is gone would be gone with it.
    select jsonb_agg(callback || jsonb_build_object('flow_id', flow, 'parent_id', parent, 'step', next_step)) into following
      from jsonb_array_elements(waiting.callbacks) callback
     where not (failed > 0 and callback #> '{options,fan_in}' is not distinct from '"done"')
       and exists (select from nodes where id = coalesce((callback ->> 'collection')::uuid,
                                                         '00000000-0000-0000-0000-000000000001'));
    if following is not null then
        perform job_add(following, null, following @? '$[*] ? (exists (@.dedupe_key) || @.dedupe == true)');
    end if;
    -- With failures, a callback that wants all branches done goes on waiting for the dead ones to be requeued.
    if failed = 0 or not waiting.callbacks @? '$[*].options.fan_in ? (@ == "done")' then
        update flow_barrier set fired_at = clock_timestamp(), error = null where id = of_barrier;
    end if;
exception when others then
    -- What passes by itself is the caller's to try again: locks, deadlocks, a server that is short of something.
    if sqlstate ~ '^(40|53|55|57|58)' then raise; end if;
    -- The branch has ended, whatever becomes of its callback; otherwise its end could never be written.
    raise warning 'what follows the fan-in % could not be sent: %', of_barrier, sqlerrm;
    update flow_barrier set error = sqlerrm where id = of_barrier;
end $$;

-- A branch has ended: its last step is done, or one of its steps is dead. The last one to arrive sends what follows,
-- in the same transaction.
create function flow_arrive() returns trigger language plpgsql as $$
begin
    if new.state = 'done' and new.id <> new.branch then return null; end if;
    perform from flow_barrier where id = new.barrier for update;
    if not found then return null; end if;
    insert into flow_arrival (barrier, branch, done) values (new.barrier, new.branch, new.state = 'done')
    on conflict (barrier, branch) do update set done = excluded.done;
    perform flow_fire(new.barrier, new.flow_id, new.id, new.step + 1);
    return null;
end $$;

create trigger flow_arrive after update of state on job_queue for each row
    when (new.barrier is not null and new.state in ('done', 'rejected') and new.state is distinct from old.state)
    execute function flow_arrive();

-- Branches are deleted before their end: they will not arrive any more, and the others need not wait for them. For each
-- statement, for each row would count its fan-in anew.
create function flow_gone() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
    last record;
begin
    if not exists (select from gone where barrier is not null and state in ('queued', 'consumed')) then return null; end if;
    -- In the order of their ids, so that two deletions cannot wait for each other.
    perform from flow_barrier where id in (select barrier from gone where state in ('queued', 'consumed'))
      order by id for update;
    insert into flow_arrival (barrier, branch, done)
    select distinct g.barrier, g.branch, false from gone g join flow_barrier b on b.id = g.barrier
     where g.state in ('queued', 'consumed')
    on conflict do nothing;
    for last in
        select distinct on (g.barrier) g.barrier, g.flow_id, g.id, g.step
          from gone g join flow_barrier b on b.id = g.barrier
         where g.state in ('queued', 'consumed') order by g.barrier, g.seq desc
    loop
        perform flow_fire(last.barrier, last.flow_id, last.id, last.step + 1);
    end loop;
    return null;
end $$;

create trigger flow_gone after delete on job_queue referencing old table as gone
    for each statement execute function flow_gone();

-- A dead branch goes back to waiting: what follows waits for it again, unless it has been sent already.
create function flow_depart() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
    perform from flow_barrier where id = new.barrier and fired_at is null for update;
    if found then
        delete from flow_arrival where barrier = new.barrier and branch = new.branch;
    end if;
    return null;
end $$;

create trigger flow_depart after update of state on job_queue for each row
    when (new.barrier is not null and old.state = 'rejected' and new.state = 'queued')
    execute function flow_depart();

revoke execute on function flow_gone(), flow_depart() from public;

-- Waiting again, as if never tried. False if the job is not dead, cancelled or waiting for a retry, or if an equal job
-- waits already.
create function retry_job(job uuid) returns boolean language plpgsql as $$
begin
    update job_queue
       set state = 'queued', attempts = 0, error_msg = null, cancelled = false, completed_at = null, due = not held,
           scheduled_for = clock_timestamp(), lease_token = null, mtime = clock_timestamp()
     where id = job and (state = 'rejected' or state = 'queued' and attempts > 0);
    if found then perform pg_notify('jobbko', ''); end if;
    return found;
exception when unique_violation then
    return false;
end $$;

-- Final: a waiting job ends now; a running one is interrupted as soon as its worker hears of it, and at the latest when
-- it next renews the lease.
create function cancel_job(job uuid) returns boolean language plpgsql as $$
begin
    -- First whoever is just ending it, then we: otherwise its retry would slip in between the two statements below.
    perform from job_queue where id = job for update;
    update job_queue
       set state = 'rejected', cancelled = true, error_msg = 'cancelled', completed_at = clock_timestamp(),
           mtime = clock_timestamp()
     where id = job and state = 'queued';
    if found then return true; end if;
    update job_queue set cancelled = true where id = job and state = 'consumed';
    if not found then return false; end if;
    perform pg_notify('jobbko_cancel', '');  -- not which: every login may listen
    return true;
end $$;

-- The jobs of a flow, locked before anything is done to one of them: a branch that is just ending has its row and wants
-- its fan-in's next, and so must we.
create function flow_jobs(flow uuid) returns setof uuid language sql as $$
    select id from job_queue where id = flow or flow_id = flow and parent_id is not null order by id for update
$$;

-- Cancel what is left of a flow; how many jobs that ended or will.
create function cancel_flow(flow uuid) returns bigint language plpgsql as $$
declare
    jobs uuid[] := array(select flow_jobs(flow));
begin
    return (select count(*) filter (where cancel_job(id)) from job_queue
             where id = any (jobs) and state in ('queued', 'consumed'));
end $$;

-- Put back the dead and cancelled steps of a flow; it goes on from there.
create function retry_flow(flow uuid) returns bigint language plpgsql as $$
declare
    jobs uuid[] := array(select flow_jobs(flow));
begin
    return (select count(*) filter (where retry_job(id)) from job_queue where id = any (jobs) and state = 'rejected');
end $$;

-- Hold the waiting jobs of a subject, and those that are sent meanwhile; how many waited. (One whose sender has not
-- committed yet is not among them; it is held when it is about to be claimed.)
create function hold_jobs(of_subject text, of_collection uuid default '00000000-0000-0000-0000-000000000001')
returns bigint language plpgsql as $$
declare
    count bigint;
begin
    insert into job_hold (collection_node_id, subject) values (of_collection, of_subject) on conflict do nothing;
    update job_queue set held = true, due = false
     where subject = of_subject and collection_node_id = of_collection and state = 'queued' and not held;
    get diagnostics count = row_count;
    return count;
end $$;

-- Let them go on, each at its own time.
create function release_jobs(of_subject text, of_collection uuid default '00000000-0000-0000-0000-000000000001')
returns bigint language plpgsql as $$
declare
    count bigint;
begin
    delete from job_hold where subject = of_subject and collection_node_id = of_collection;
    update job_queue set held = false, due = scheduled_for <= clock_timestamp()
     where subject = of_subject and collection_node_id = of_collection and state = 'queued' and held;
    get diagnostics count = row_count;
    perform pg_notify('jobbko', '');
    return count;
end $$;

-- However a job comes to wait (an INSERT, a retry, a lease given back), it is held while its subject is. After the other
-- triggers, which are by name before it, for they say when it is due.
create function job_subject_held() returns trigger language plpgsql as $$
begin
    -- Locked, so that whoever releases the subject waits until this row can be seen, and then releases it too.
    perform from public.job_hold h
      where h.collection_node_id = new.collection_node_id and h.subject = new.subject for key share;
    new.held := found or tg_op = 'INSERT' and new.held;
    new.due := new.due and not new.held;
    return new;
end $$;

create trigger job_subject_held before insert or update of state on job_queue for each row
    when (new.subject is not null and new.state = 'queued') execute function job_subject_held();

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

create function job_inserted(of_type text, with_payload jsonb, of_priority integer, wait interval, named text, owner uuid,
                             about text, key text) returns uuid language plpgsql as $$
declare
    job uuid;
begin
    insert into job_queue as q (job_type, payload, priority, scheduled_for, dedupe_key, collection_node_id, subject)
    values (of_type, with_payload, of_priority::smallint, clock_timestamp() + coalesce(wait, '0'), named, owner, about)
    -- The one that waits is locked until the caller commits, so that it does not start before her data can be seen.
    on conflict (collection_node_id, dedupe_key) where dedupe_key is not null and state = 'queued'
    do update set mtime = q.mtime where false
    returning id into job;
    if job is null then
        select id into job from job_queue where collection_node_id = owner and state = 'queued' and dedupe_key = key;
    end if;
    return job;
end $$;

-- Enqueue from any language, with everything that an INSERT cannot say: the id of the job, or of the equal one that
-- waits already (or runs, if equal jobs are one until it is done).
create function enqueue_job(job_type text, payload jsonb default '{}', priority integer default null,
                            delay interval default null, dedupe_key text default null, collection uuid default null,
                            subject text default null) returns uuid language plpgsql as $$
declare
    owner uuid := coalesce(collection, '00000000-0000-0000-0000-000000000001');
    key text := coalesce(dedupe_key, job_dedupe_key(job_type, payload, null));
    job uuid;
begin
    if not exists (select from job_type t where t.name = enqueue_job.job_type and t.until_done) then
        return job_inserted(job_type, payload, priority, delay, dedupe_key, owner, subject, key);
    end if;
    for try in 1 .. 3 loop
        select id into job from job_queue q
         where q.collection_node_id = owner and q.dedupe_key = key and q.until_done and q.state = 'consumed';
        if found then return job; end if;
        begin
            return job_inserted(job_type, payload, priority, delay, dedupe_key, owner, subject, key);
        exception when unique_violation then
            null;  -- an equal job has started at this very moment
        end;
    end loop;
    return null;
end $$;
