-- Model calls: the ledger with a row for each, what the day has cost, and what came of them beside the owner's own data.

-- One call is one row. It is written before the request is sent, with what the call may cost at most; what it did cost is
-- written before the answer is looked at. A row whose worker died in between is `unknown`, and its estimate stays spent.
create table model_run (
    id                  uuid primary key default gen_random_uuid(),
    collection_node_id  uuid        not null references nodes (id) on delete cascade,
    job_id              uuid,  -- no foreign key: jobs are deleted sooner or later, and the figures stay
    job_type            text        not null default '',
    attempt             integer     not null default 1,
    gateway             text        not null,
    backend             text        not null check (backend in ('gateway', 'anthropic', 'cli')),
    operation           text        not null check (operation in ('complete', 'embed')),
    model               text        not null,  -- that was asked for
    model_served        text,                  -- that the answer names
    prompt              text        not null default '',  -- name and version of the prompt
    request             jsonb,                 -- pictures as hash, bytes and type
    response            jsonb,                 -- as the provider sent it, without secrets
    http_status         integer,
    provider_request_id text,
    state               text        not null default 'reserved' check (state in ('reserved', 'ok', 'failed', 'unknown')),
    class               text,                  -- of the failure
    message             text,
    finish_reason       text,
    input_tokens        integer,               -- neither read from a cache nor written into one
    cache_read_tokens   integer,
    cache_write_tokens  integer,
    output_tokens       integer,               -- reasoning included
    day                 date        not null default (clock_timestamp() at time zone 'utc')::date,
    reserved_usd        numeric(14, 8) not null check (reserved_usd >= 0),  -- the estimate
    cost_usd            numeric(14, 8) check (cost_usd >= 0),
    cost_source         text check (cost_source in ('provider', 'table', 'estimate', 'free')),
    started_at          timestamptz not null default clock_timestamp(),
    finished_at         timestamptz,
    latency_ms          integer
);

create index model_run_collection on model_run (collection_node_id, started_at);
create index model_run_job on model_run (job_id) where job_id is not null;
create index model_run_day on model_run (day);
create index model_run_open on model_run (started_at) where state = 'reserved';
create index model_run_bodies on model_run (finished_at) where request is not null or response is not null;

-- What a UTC day has cost, for all and for each collection; kept by the ledger's own trigger, so that the two agree, and
-- kept when a collection is deleted, so that its money stays spent.
create table budget_day (
    day          date    not null,
    scope        text    not null,  -- 'all', or a collection's id
    reserved_usd numeric(14, 8) not null default 0,
    spent_usd    numeric(14, 8) not null default 0,
    told         integer not null default 0,  -- the highest share of the limit, in percent, that an event tells of
    primary key (day, scope)
);

create function model_run_cost() returns trigger language plpgsql as $$
declare
    reserved numeric := case new.state when 'reserved' then new.reserved_usd else 0 end
                      - case when tg_op = 'UPDATE' and old.state = 'reserved' then old.reserved_usd else 0 end;
    spent numeric := case new.state when 'reserved' then 0 else coalesce(new.cost_usd, new.reserved_usd) end
                   - case when tg_op = 'UPDATE' and old.state <> 'reserved'
                          then coalesce(old.cost_usd, old.reserved_usd) else 0 end;
begin
    insert into budget_day as b (day, scope, reserved_usd, spent_usd)
    select new.day, scope, reserved, spent from unnest(array['all', new.collection_node_id::text]) scope order by scope
    on conflict (day, scope) do update
       set reserved_usd = b.reserved_usd + excluded.reserved_usd, spent_usd = b.spent_usd + excluded.spent_usd;
    return null;
end $$;

create trigger model_run_cost after insert or update of state, cost_usd, reserved_usd on model_run
    for each row execute function model_run_cost();

alter table queue_event drop constraint queue_event_event_check;
alter table queue_event add check (event in ('closed', 'opened', 'probe', 'spent'));

-- Write a call down with what it may cost at most: null, or the scope whose limit that would go beyond; then nothing is
-- written. The rows of the day are locked in the order in which the trigger takes them, so of two calls at once the
-- second sees what the first has taken. 50, 80 and 100 % of a limit are told of once a day.
create function model_run_reserve(run jsonb, all_limit numeric, collection_limit numeric) returns text
language plpgsql as $$
declare
    call model_run := jsonb_populate_record(null::model_run, run);
    today date := (clock_timestamp() at time zone 'utc')::date;
    scopes text[] := array['all', call.collection_node_id::text];
    each record;
begin
    insert into budget_day (day, scope) select today, scope from unnest(scopes) scope order by scope on conflict do nothing;
    for each in
        select scope, reserved_usd + spent_usd + call.reserved_usd as taken,
               case scope when 'all' then all_limit else collection_limit end as most
          from budget_day where day = today and scope = any (scopes) order by scope for update
    loop
        if each.taken > each.most and call.reserved_usd > 0 then return each.scope; end if;
    end loop;
    insert into model_run (id, collection_node_id, job_id, job_type, attempt, gateway, backend, operation, model, prompt,
                           request, day, reserved_usd)
    values (call.id, call.collection_node_id, call.job_id, call.job_type, call.attempt, call.gateway, call.backend,
            call.operation, call.model, call.prompt, call.request, today, call.reserved_usd);
    with passed as (
        select scope, case scope when 'all' then all_limit else collection_limit end as most,
               reserved_usd + spent_usd as taken, told
          from budget_day where day = today and scope = any (scopes)
    ),
    mark as (
        select scope, most, max(percent) as percent from passed, unnest(array[50, 80, 100]) percent
         where most > 0 and taken >= most * percent / 100 and percent > told group by scope, most
    ),
    told as (
        update budget_day b set told = mark.percent from mark where b.day = today and b.scope = mark.scope
    )
    insert into queue_event (gate, event, reason, note)
    select 'budget' || case scope when 'all' then '' else ':' || scope end, 'spent', 'budget',
           format('%s %% of $%s', percent, most)
      from mark;
    return null;
end $$;

-- What a model, or a person, has made of something: beside it and never in its place.
create table derived (
    id                 uuid primary key default gen_random_uuid(),
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    subject_type       text        not null,  -- 'node', 'photo', …
    subject_id         uuid        not null,
    kind               text        not null,  -- 'summary', 'ocr', …
    version            integer     not null,
    format             text        not null default 'text',
    text               text,
    payload            jsonb,
    producer           text        not null,  -- a model's id, or 'human'
    model_run_id       uuid,
    prompt             text        not null default '',  -- name and version
    input_sha256       text,  -- of all that it was made from: the same again is not asked for again
    created_at         timestamptz not null default clock_timestamp(),
    superseded_at      timestamptz,
    unique (collection_node_id, subject_type, subject_id, kind, version)
);

create unique index derived_current on derived (collection_node_id, subject_type, subject_id, kind) where superseded_at is null;

do $$
declare
    made text;
begin
    foreach made in array array['model_run', 'derived'] loop
        perform isolate_table(made::regclass), fence_table(made::regclass);
    end loop;
    -- The ledger is written by workers alone.
    execute format('create policy not_added on model_run as restrictive for insert with check (current_user = %L)',
                   current_user);
    execute format('create policy not_changed on model_run as restrictive for update using (current_user = %L)',
                   current_user);
    execute format('create policy not_deleted on model_run as restrictive for delete using (current_user = %L)',
                   current_user);
end $$;

select grant_api_again();
