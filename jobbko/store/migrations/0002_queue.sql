-- The queue: one row is one job. Read it, insert into it, join it; change a job's fate with the functions below.

create schema if not exists dramatiq;

do $$ begin
    -- dramatiq-pg's own type, if it was here first. Its four labels stay four: what else we know is in boolean columns.
    create type dramatiq.state as enum ('queued', 'consumed', 'rejected', 'done');
exception when duplicate_object then null;
end $$;

create type job_status as enum ('pending', 'running', 'completed', 'error', 'retry', 'cancelled');

-- How many jobs of one name may run at once, over all workers. Several job types may share a name.
create table job_limit (
    name           text collate "C" primary key,
    max_running    integer not null check (max_running >= 0),
    per_collection integer check (per_collection >= 0)  -- and of one collection
);

-- What the workers have published about the jobs that they know; supplies defaults and checks to every way in.
create table job_type (
    name         text collate "C" primary key,
    queue_name   text        not null default 'default',
    priority     smallint    not null default 5,
    max_attempts smallint    not null default 5 check (max_attempts > 0),
    gates        text[]      not null default '{}',
    limit_name   text collate "C" references job_limit (name) on update cascade,
    dedupe       boolean     not null default false,  -- at most one waiting job with equal parameters
    until_done   boolean     not null default false,  -- and none while such a one runs
    every_collection boolean not null default false,  -- writes into each, so users of the API may not send it
    parameters   text[]      not null default '{}',   -- in the function's order
    required     text[]      not null default '{}',
    accepts_any  boolean     not null default false,  -- takes keywords beyond its parameters
    all_named    boolean     not null default true,   -- each positional argument has a name
    published_at timestamptz not null default now()
);

-- A gate is an outside dependency that jobs require. While it is closed they wait. Every job also requires the gates
-- "all", "type:<its job type>" and "collection:<its collection>", which only a person closes.
create table queue_state (
    gate      text collate "C" primary key,
    closed    boolean     not null default false,
    reason    text check (reason in ('credit', 'auth', 'budget', 'outage', 'manual')),
    since     timestamptz,
    resume_at timestamptz,           -- when it opens, or lets one job try; null: only a person opens it
    streak    integer     not null default 0,      -- outages since the last success
    probing   boolean     not null default false,  -- one job is trying now
    suspects  uuid[]      not null default '{}',   -- jobs that met a plain 500 since the last success
    announced text,                                -- the reason that was announced since then
    note      text,
    owner     text
);

create index queue_state_closed on queue_state (gate) where closed;

create table queue_event (
    id           bigint generated always as identity primary key,
    at           timestamptz not null default clock_timestamp(),
    gate         text        not null,
    event        text        not null check (event in ('closed', 'opened', 'probe')),
    reason       text,
    resume_at    timestamptz,
    note         text,
    owner        text,
    announce     boolean     not null default false,
    announced_at timestamptz
);

create index queue_event_to_announce on queue_event (id) where announce and announced_at is null;

-- Subjects of a collection whose jobs do not run for now: a page in the trash.
create table job_hold (
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    subject            text        not null,
    held_at            timestamptz not null default clock_timestamp(),
    primary key (collection_node_id, subject)
);

create function job_time_is_date(at timestamptz) returns boolean language sql immutable as $$
    select at >= '1970-01-01 00:00:00+00' and at < '9999-12-31 00:00:00+00'
$$;

create table job_queue (
    id                 uuid primary key default gen_random_uuid(),
    collection_node_id uuid        not null default '00000000-0000-0000-0000-000000000001'
                                   references nodes (id) on delete cascade,
    job_type           text collate "C" not null,
    payload            jsonb       not null default '{}' check (jsonb_typeof(payload) = 'object'),
    status             job_status  not null generated always as (
                           case state
                               when 'queued' then case when attempts = 0 then 'pending'::job_status
                                                       else 'retry'::job_status end
                               when 'consumed' then 'running'::job_status
                               when 'done' then 'completed'::job_status
                               else case when cancelled then 'cancelled'::job_status else 'error'::job_status end
                           end) stored,
    priority           smallint    not null,
    result             jsonb,
    error_msg          text,
    attempts           smallint    not null default 0,  -- charged failures
    max_attempts       smallint    not null check (max_attempts > 0),
    created_at         timestamptz not null default clock_timestamp(),
    started_at         timestamptz,
    completed_at       timestamptz,
    scheduled_for      timestamptz not null default clock_timestamp(),

    -- Ours, beyond the columns that people know by heart.
    seq                bigint generated always as identity,
    state              dramatiq.state not null default 'queued',
    due                boolean     not null default true,
    held               boolean     not null default false,
    cancelled          boolean     not null default false,
    gates              text[]      not null default '{}',
    lane               text collate "C" not null,  -- the gates joined by "+"; jobs of one lane wait for the same things
    dedupe_key         text,
    until_done         boolean     not null default false,  -- equal jobs are one until it ends, not only until it starts
    rank               smallint    not null default 0,      -- of its reason: a stronger one replaces a waiting equal job
    subject            text,
    flow_id            uuid        not null,
    parent_id          uuid,
    step               smallint    not null default 1,
    in_flow            boolean     not null default false,  -- a step that was written down in an explicit flow
    tell               boolean     not null default false,  -- notify jobbko_events of each change of its status
    barrier            uuid,       -- the fan-in that waits for this job's branch
    branch             uuid,       -- the last step of that branch
    worker             uuid,
    lease_token        uuid,
    lease_until        timestamptz,
    progress           jsonb,
    queue_name         text        not null default 'default',
    -- Positional arguments that have no name, and Dramatiq's options that have no column.
    args               jsonb       check (jsonb_typeof(args) = 'array'),
    options            jsonb       check (jsonb_typeof(options) = 'object'),
    -- dramatiq-pg's columns that its producers write; read once by the insert trigger.
    message            jsonb,
    result_ttl         timestamptz,
    mtime              timestamptz not null default clock_timestamp(),
    -- Not "infinity": a worker could not say when that is. Held jobs wait without a time.
    constraint job_times_are_dates check (job_time_is_date(created_at) and job_time_is_date(scheduled_for)
        and job_time_is_date(coalesce(completed_at, created_at)) and job_time_is_date(coalesce(started_at, created_at)))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0.05);

-- Most urgent first; inside a priority by lane, type and collection, so that a claim can step over a whole closed lane,
-- a saturated type or a collection that has had its turn with one probe each.
create index job_ready on job_queue ((-priority), lane, job_type, collection_node_id, scheduled_for, seq)
    where state = 'queued' and due;
create index job_scheduled on job_queue (scheduled_for) where state = 'queued' and not due and not held;
-- Without lease_until, so that renewing a lease touches no index.
create index job_running on job_queue (job_type) where state = 'consumed';
create index job_finished on job_queue (mtime) where state in ('done', 'rejected');
create index job_dead on job_queue (completed_at) where status = 'error';
create index job_flow on job_queue (flow_id) where parent_id is not null;
create unique index job_dedupe on job_queue (collection_node_id, dedupe_key)
    where dedupe_key is not null and state = 'queued';
create unique index job_dedupe_until_done on job_queue (collection_node_id, dedupe_key)
    where dedupe_key is not null and until_done and state in ('queued', 'consumed');
create index job_subject on job_queue (subject) where subject is not null and state = 'queued';

-- Attempts that ended without success. The successful one is in the job's own row; job_attempt shows them together.
create table job_attempt_failed (
    job_id     uuid        not null references job_queue (id) on delete cascade,
    attempt    smallint    not null,
    worker     uuid,
    started_at timestamptz,
    ended_at   timestamptz not null default clock_timestamp(),
    outcome    text        not null check (outcome in ('retry', 'dead', 'refunded', 'cancelled')),
    class      text        not null,
    message    text,
    traceback  text
);

create index job_attempt_failed_job on job_attempt_failed (job_id, ended_at);

create view job_attempt as
select job_id, attempt, worker, started_at, ended_at, outcome, class, message, traceback from job_attempt_failed
union all
select id, (attempts + 1)::smallint, worker, started_at, completed_at,
       case state when 'done' then 'completed' else 'running' end, null, null, null
  from job_queue
 where started_at is not null and state in ('done', 'consumed');

create table worker (
    id           uuid primary key,
    host         text        not null,
    pid          integer     not null,
    threads      integer     not null,
    job_types    text[]      not null,
    started_at   timestamptz not null default clock_timestamp(),
    heartbeat_at timestamptz not null default clock_timestamp(),
    stopped_at   timestamptz
) with (fillfactor = 70);

-- An empty doorbell: one for each statement, folded for each transaction. Whoever hears it looks at the table.
create function job_bell() returns trigger language plpgsql as $$
begin
    if current_setting('jobbko.quiet', true) is distinct from 'on' then
        perform pg_notify('jobbko', '');
    end if;
    return null;
end $$;

create trigger job_bell after insert on job_queue for each statement execute function job_bell();

-- A person's or an application's INSERT: fill in what the job type says, refuse what could never run.
create function job_insert() returns trigger language plpgsql as $$
declare
    type public.job_type;  -- with its schema: a temporary table of that name would come first
    wrong text;
begin
    select * into type from public.job_type where name = new.job_type;
    if not found then
        raise exception using errcode = 'foreign_key_violation', table = 'job_queue', column = 'job_type',
            message = format('unknown job_type "%s"', new.job_type),
            hint = coalesce((select 'Known: ' || string_agg(name, ', ' order by name) || '.' from public.job_type),
                            'No worker has published its jobs yet: run "jobbko migrate" or start a worker.');
    end if;
    wrong := job_payload_fault(type, new.payload);
    if wrong is not null then
        raise exception using errcode = 'invalid_parameter_value', table = 'job_queue', column = 'payload',
            message = wrong,
            hint = format('%s takes: %s.', type.name, job_signature(type));
    end if;
    -- A new job waits, whatever the INSERT says.
    new.state := 'queued'; new.cancelled := false; new.lease_token := null; new.lease_until := null;
    new.queue_name := type.queue_name;
    new.priority := coalesce(new.priority, type.priority);
    new.max_attempts := coalesce(new.max_attempts, type.max_attempts);
    if new.gates = '{}' then new.gates := type.gates; end if;
    if exists (select from unnest(new.gates) gate where gate ~ '^$|^all$|\+|^(type|collection):') then
        raise exception using errcode = 'invalid_parameter_value', table = 'job_queue', column = 'gates',
            message = format('the gates of %s cannot be %s', type.name, new.gates),
            hint = 'A gate is not called "", "all", "type:…", "collection:…" or anything with a "+".';
    end if;
    new.lane := array_to_string(new.gates, '+');
    new.flow_id := coalesce(new.flow_id, new.id);
    new.due := not new.held and new.scheduled_for <= clock_timestamp();
    if type.dedupe and new.dedupe_key is null and new.barrier is null then
        new.dedupe_key := job_dedupe_key(new.job_type, new.payload, null);
    end if;
    new.until_done := new.dedupe_key is not null and type.until_done;
    return new;
end $$;

-- The engine has checked its own jobs already and says so by giving the lane.
create trigger job_insert before insert on job_queue for each row
    when (new.lane is null and new.message is null and new.queue_name is distinct from '__RQ__')
    execute function job_insert();

create function job_payload_fault(type job_type, payload jsonb) returns text language plpgsql stable as $$
declare
    names text;
begin
    if payload is null or jsonb_typeof(payload) <> 'object' then
        return format('the payload of %s must be an object of its parameters', type.name);
    end if;
    if octet_length(payload::text) > 65536 then
        return format('the payload of %s has %s bytes, more than 65536; pass audio and other files by path',
                      type.name, octet_length(payload::text));
    end if;
    if not type.accepts_any then
        select string_agg(key, ', ') into names from jsonb_object_keys(payload) key where key <> all (type.parameters);
        if names is not null then return format('%s has no parameter %s', type.name, names); end if;
    end if;
    select string_agg(key, ', ') into names from unnest(type.required) key where not payload ? key;
    if names is not null then return format('%s needs the parameter %s', type.name, names); end if;
    return null;
end $$;

create function job_signature(type job_type) returns text language sql stable as $$
    select coalesce(string_agg(key || case when key = any (type.required) then '' else ' (optional)' end, ', '
                               order by position), 'nothing')
      from unnest(type.parameters) with ordinality parameter (key, position)
$$;

-- What makes two waiting jobs equal: the job, its parameters, and what is to follow it.
create function job_dedupe_key(job_type text, payload jsonb, following text) returns text language sql immutable as $$
    select job_type || ':' || md5(payload::text || coalesce(following, ''))
$$;
