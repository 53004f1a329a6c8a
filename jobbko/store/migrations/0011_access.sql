-- Who may see and change what: users see the collections that node_access gives them, in every table, by the database.
-- An application sets `jobbko.user_id` for its transaction; the owner of the tables, as whom workers run, sees all.

create function can_see(collection uuid) returns boolean language sql stable security definer
set search_path = pg_catalog, public as $$
    select exists (select from node_access
                    where node_id = collection
                      and user_id = nullif(current_setting('jobbko.user_id', true), '')::uuid)
$$;

create function can_change(collection uuid) returns boolean language sql stable security definer
set search_path = pg_catalog, public as $$
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

-- Gates are everybody's, but for those of a collection.
alter table queue_state enable row level security;
alter table queue_state force row level security;
create policy seen on queue_state for select
    using (gate not like 'collection:%' and gate not like 'library:%' or can_see(split_part(gate, ':', 2)::uuid));
alter table queue_event enable row level security;
alter table queue_event force row level security;
create policy seen on queue_event for select
    using (gate not like 'collection:%' and gate not like 'library:%' or can_see(split_part(gate, ':', 2)::uuid));

do $$
declare
    isolated text;
begin
    foreach isolated in array array['nodes', 'node_access', 'job_attempt_failed', 'queue_state', 'queue_event'] loop
        execute format('create policy workers on %I to %I using (true) with check (true)', isolated, current_user);
    end loop;
end $$;

-- Counts a branch on behalf of whoever cancelled its job.
alter function flow_arrive() security definer set search_path = pg_catalog, public;

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
    execute format('grant select on job_hold to %I', api);
    for isolated in
        select c.oid from pg_class c join pg_attribute a on a.attrelid = c.oid
         where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname = 'collection_node_id'
    loop
        execute format('grant select, insert, update, delete on %s to %I', isolated, api);
    end loop;
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
