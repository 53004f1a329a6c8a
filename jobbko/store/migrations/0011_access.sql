-- Who may see and change what: users see the collections that node_access gives them, in every table, by the database.
-- An application sets `jobbko.user_id` for its transaction; the owner of the tables, as whom workers run, sees all.

--
-- A function that runs as the owner names pg_temp last: left out it is searched first, and whoever may make a temporary
-- view called node_access would then be asked instead of the table (PostgreSQL documentation, CREATE FUNCTION).

create function can_see(collection uuid) returns boolean language sql stable security definer
set search_path = pg_catalog, public, pg_temp as $$
    select exists (select from node_access
                    where node_id = collection
                      and user_id = nullif(current_setting('jobbko.user_id', true), '')::uuid)
$$;

create function can_change(collection uuid) returns boolean language sql stable security definer
set search_path = pg_catalog, public, pg_temp as $$
    select exists (select from node_access
                    where node_id = collection and role in ('operator', 'admin')
                      and user_id = nullif(current_setting('jobbko.user_id', true), '')::uuid)
$$;

-- Put a table with a collection_node_id under these rules; every migration that makes one calls this.
create function isolate_table(isolated regclass) returns void language plpgsql as $$
begin
    execute format('alter table %s enable row level security', isolated);
    execute format('alter table %s force row level security', isolated);
    execute format('create policy workers on %s to %I using (true) with check (true)', isolated, current_user);
    execute format('create policy seen on %s for select using (can_see(collection_node_id))', isolated);
    execute format('create policy added on %s for insert with check (can_change(collection_node_id))', isolated);
    execute format('create policy changed on %s for update using (can_change(collection_node_id))'
                   ' with check (can_change(collection_node_id))', isolated);
    execute format('create policy deleted on %s for delete using (can_change(collection_node_id))', isolated);
end $$;

do $$
declare
    found regclass;
begin
    for found in
        select c.oid from pg_class c join pg_attribute a on a.attrelid = c.oid
         where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname = 'collection_node_id'
           and c.relname <> 'nodes'
    loop
        perform isolate_table(found);
    end loop;
end $$;

-- A node is seen by those who see its collection; a collection by those who have access to it.
alter table nodes enable row level security;
alter table nodes force row level security;
create policy seen on nodes for select using (can_see(coalesce(collection_node_id, id)));
create policy added on nodes for insert with check (can_change(coalesce(collection_node_id, id)));
create policy changed on nodes for update using (can_change(coalesce(collection_node_id, id)))
    with check (can_change(coalesce(collection_node_id, id)));
create policy deleted on nodes for delete using (can_change(coalesce(collection_node_id, id)));

-- One's own access and nobody else's.
alter table node_access enable row level security;
alter table node_access force row level security;
create policy seen on node_access for select
    using (user_id = nullif(current_setting('jobbko.user_id', true), '')::uuid);

-- Attempts are seen with their job.
alter table job_attempt_failed enable row level security;
alter table job_attempt_failed force row level security;
create policy seen on job_attempt_failed for select
    using (exists (select from job_queue j where j.id = job_id));
alter view job_attempt set (security_invoker = true);

-- The collection that "collection:<id>" or "library:<id>" names; null if it names none.
create function gate_collection(gate text) returns uuid language sql immutable as $$
    select case when gate ~ '^[a-z]+:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then split_part(gate, ':', 2)::uuid end
$$;

-- Gates are everybody's, but for those of a collection.
alter table queue_state enable row level security;
alter table queue_state force row level security;
create policy seen on queue_state for select
    using (gate !~ '^(collection|library|budget):' or can_see(gate_collection(gate)));
alter table queue_event enable row level security;
alter table queue_event force row level security;
create policy seen on queue_event for select
    using (gate !~ '^(collection|library|budget):' or can_see(gate_collection(gate)));

do $$
declare
    isolated text;
begin
    foreach isolated in array array['nodes', 'node_access', 'job_attempt_failed', 'queue_state', 'queue_event'] loop
        execute format('create policy workers on %I to %I using (true) with check (true)', isolated, current_user);
    end loop;
end $$;

-- Counts a branch on behalf of whoever cancelled or deleted its job; nobody else makes a trigger of it on a table of his
-- own.
do $$
declare
    counting text;
begin
    foreach counting in array array['flow_arrive()', 'flow_gone()'] loop
        execute format('alter function %s security definer set search_path = pg_catalog, public, pg_temp', counting);
        execute format('revoke execute on function %s from public', counting);
    end loop;
end $$;

-- What the functions for operators do by hand is allowed as well (retry, cancel, hold, another priority), and no more.
create function job_by_user() returns trigger language plpgsql as $$
begin
    -- Names with their schema: a temporary table called job_queue would come first.
    if pg_has_role(current_user, (select relowner from pg_class where oid = 'public.job_queue'::regclass), 'member') then
        return new;
    end if;
    if new.priority > greatest(10, (select priority from public.job_type where name = new.job_type)) then
        raise exception 'priority % is more than 10, the most urgent', new.priority
            using errcode = 'insufficient_privilege';
    end if;
    if new.state = 'queued' and (tg_op = 'INSERT' or old.state <> 'queued')
       and (select every_collection from public.job_type where name = new.job_type) then
        raise exception '% looks after every collection; only who runs the queue sends it', new.job_type
            using errcode = 'insufficient_privilege';
    end if;
    if tg_op = 'UPDATE' and (new.state is distinct from old.state and new.state not in ('queued', 'rejected')
                             or old.state in ('consumed', 'done') and new.state <> old.state
                             or new.lease_token is distinct from old.lease_token and new.state <> 'queued'
                             or new.attempts is distinct from old.attempts and new.attempts <> 0) then
        raise exception 'the state of a job is changed by retry_job, cancel_job, hold_jobs and their like'
            using errcode = 'insufficient_privilege';
    end if;
    return new;
end $$;

do $$ begin
    execute format('create trigger zz_by_user before insert or update on job_queue for each row'
                   ' when (current_user <> %L) execute function job_by_user()', current_user);
end $$;

-- The role that an application's API connects as, or switches to. Where roles may not be made, an administrator makes one
-- and calls grant_api.
create function grant_api(api text) returns void language plpgsql as $$
declare
    isolated regclass;
begin
    execute format('grant usage on schema public to %I', api);
    execute format('grant select on job_attempt, job_attempt_failed, job_type, node_access to %I', api);
    -- Not the notes: they repeat what a job said that may be another collection's.
    execute format('grant select (gate, closed, reason, since, resume_at) on queue_state to %I', api);
    execute format('grant select (id, at, gate, event, reason, resume_at) on queue_event to %I', api);
    for isolated in
        select c.oid from pg_class c join pg_attribute a on a.attrelid = c.oid
         where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname = 'collection_node_id'
    loop
        execute format('grant select, insert, update, delete on %s to %I', isolated, api);
    end loop;
    -- What lies where on this machine is for whoever runs it to say, and for scans to find: a path that a user could write
    -- is a file that a job would read for her.
    execute format('revoke insert, update, delete on library_roots, scan_run, tracks, albums, artists,'
                   ' track_artists, track_audio_features, artwork, artwork_link, provider_lookup from %I', api);
    execute format('grant update (accept_missing) on library_roots to %I', api);
    -- Of a job only what its sender decides; the rest is the engine's, which a row could otherwise tell what to run
    -- where (options), or that it runs already (state).
    execute format('revoke insert, update on job_queue from %I', api);
    execute format('grant insert (job_type, payload, priority, max_attempts, collection_node_id, scheduled_for, subject,'
                   ' dedupe_key, held, tell) on job_queue to %I', api);
    execute format('grant update (priority, scheduled_for, due, held, state, cancelled, attempts, error_msg, completed_at,'
                   ' lease_token, mtime) on job_queue to %I', api);
end $$;

do $$ begin
    if not exists (select from pg_roles where rolname = 'jobbko_api') then
        create role jobbko_api nologin;
    end if;
    perform grant_api('jobbko_api');
exception
    when insufficient_privilege then
        raise notice 'no right to make the role jobbko_api; see grant_api(text)';
    when unique_violation or duplicate_object then  -- another database's migration was quicker
        perform grant_api('jobbko_api');
end $$;

-- Once more, for a migration that has made tables. Apart from what isolates them, since whoever may not grant must not
-- lose that as well.
create function grant_api_again() returns void language plpgsql as $$
begin
    if exists (select from pg_roles where rolname = 'jobbko_api') then
        perform grant_api('jobbko_api');
    end if;
exception when insufficient_privilege then
    raise notice 'no right to grant to the role jobbko_api; see grant_api(text)';
end $$;
