-- What a job writes goes into its own collection and no other, whatever its parameters name; but for jobs that are declared
-- to look after every collection.

create function not_its_collection() returns trigger language plpgsql as $$
begin
    raise exception 'a job of collection % may not write into %', current_setting('jobbko.collection'), tg_table_name
        using errcode = 'insufficient_privilege',
              detail = format('The row is of collection %s.', coalesce(new.collection_node_id, old.collection_node_id)),
              hint = 'Send the job with the collection that its parameters belong to.';
end $$;

-- Every migration that makes a table with a collection_node_id calls this beside isolate_table. Jobs are not fenced:
-- one that looks after everything sends others into each collection.
create function fence_table(fenced regclass) returns void language plpgsql as $$
begin
    execute format('create trigger own_collection before insert or update on %s for each row'
                   ' when (nullif(current_setting(''jobbko.collection'', true), '''') <> new.collection_node_id::text)'
                   ' execute function not_its_collection()', fenced);
    execute format('create trigger own_collection_before before update or delete on %s for each row'
                   ' when (nullif(current_setting(''jobbko.collection'', true), '''') <> old.collection_node_id::text)'
                   ' execute function not_its_collection()', fenced);
end $$;

do $$
declare
    found regclass;
begin
    for found in
        select c.oid from pg_class c join pg_attribute a on a.attrelid = c.oid
         where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname = 'collection_node_id'
           and c.relname not in ('job_queue', 'nodes')
    loop
        perform fence_table(found);
    end loop;
end $$;

-- A collection's own node belongs to it, and so do the rights to it.
create function not_its_node() returns trigger language plpgsql as $$
declare
    fence text := nullif(current_setting('jobbko.collection', true), '');
    row jsonb;
begin
    foreach row in array array[to_jsonb(old), to_jsonb(new)] loop
        if row is not null and fence not in (
               coalesce(row ->> 'node_id', row ->> 'collection_node_id', row ->> 'id'), coalesce(row ->> 'id', '')) then
            raise exception 'a job of collection % may not write into %', fence, tg_table_name
                using errcode = 'insufficient_privilege',
                      hint = 'Send the job with the collection that its parameters belong to.';
        end if;
    end loop;
    return coalesce(new, old);
end $$;

create trigger own_collection before insert or update or delete on nodes for each row
    when (nullif(current_setting('jobbko.collection', true), '') is not null) execute function not_its_node();
create trigger own_collection before insert or update or delete on node_access for each row
    when (nullif(current_setting('jobbko.collection', true), '') is not null) execute function not_its_node();
