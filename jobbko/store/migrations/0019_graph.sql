-- The knowledge graph: edges between nodes, and vectors to search their texts by.
-- An application writes nodes; a trigger starts the jobs that read them.

-- With the collection, so that an edge or a vector cannot belong to another collection than what it is about.
create unique index nodes_in_collection on nodes (id, collection_node_id);
alter table nodes add constraint nodes_in_collection unique using index nodes_in_collection;

create table edges (
    id                 uuid primary key default gen_random_uuid(),
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    source_id          uuid        not null,
    target_id          uuid        not null,
    kind               text        not null,  -- topic, mention, summary, clip, …
    origin             text        not null default 'human' check (origin in ('human', 'model')),
    -- What a model proposes waits for a person; what she rejects stays, so that it is not proposed again.
    state              text        not null default 'accepted' check (state in ('proposed', 'accepted', 'rejected')),
    quote              text        not null default '',  -- where the source says so
    model_run_id       uuid,       -- no foreign key: the ledger is pruned
    created_at         timestamptz not null default now(),
    decided_at         timestamptz,
    unique (source_id, target_id, kind),
    check (source_id <> target_id),
    foreign key (source_id, collection_node_id) references nodes (id, collection_node_id) on delete cascade,
    foreign key (target_id, collection_node_id) references nodes (id, collection_node_id) on delete cascade
);

create index edges_target on edges (target_id, kind);
create index edges_collection on edges (collection_node_id, state);

-- One topic, or person, of a name in a collection, however it is written.
create unique index nodes_named_once on nodes (collection_node_id, kind, lower(title)) where kind in ('topic', 'person');

-- What was made of a node goes with it.
create function forget_derived() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
    delete from derived where subject_type = 'node' and subject_id = old.id
                          and collection_node_id = old.collection_node_id;
    return null;
end $$;
revoke execute on function forget_derived() from public;
create trigger forget_derived after delete on nodes for each row
    when (old.collection_node_id is not null) execute function forget_derived();

-- Several models side by side; only vectors of one model can be compared.
create table embedding_model (
    model               text primary key,
    dims                smallint not null check (dims between 1 and 4000),
    -- From which cosine similarity on two texts say the same; it does not carry over from model to model.
    duplicate_threshold real
);

create table embeddings (
    collection_node_id uuid     not null references nodes (id) on delete cascade,
    node_id            uuid     not null,
    model              text     not null references embedding_model (model),
    chunk_no           integer  not null check (chunk_no >= 0),
    start_ms           integer,               -- of a transcript
    text               text     not null,
    content_hash       bytea    not null,     -- of the text: what has not changed keeps its vector
    vector             real[]   not null,
    created_at         timestamptz not null default now(),
    primary key (node_id, model, chunk_no),
    foreign key (node_id, collection_node_id) references nodes (id, collection_node_id) on delete cascade
);

create index embeddings_collection on embeddings (collection_node_id, model);

create function vector_fits() returns trigger language plpgsql as $$
begin
    if cardinality(new.vector) <> (select dims from embedding_model m where m.model = new.model) then
        raise exception 'a vector of % has % numbers, and this one %', new.model,
            (select dims from embedding_model m where m.model = new.model), cardinality(new.vector)
            using errcode = 'check_violation',
                  hint = 'Another model answers under this name. Give it a name of its own, or delete the old vectors.';
    end if;
    return new;
end $$;
create trigger vector_fits before insert or update on embeddings for each row execute function vector_fits();

-- pgvector, where it can be had, indexes each model by itself: as vector up to 2,000 numbers, as halfvec up to 4,000.
create function has_pgvector() returns boolean language sql stable
    return exists (select from pg_extension where extname = 'vector');

create function vector_type(dims integer) returns text language sql immutable
    return format('%s(%s)', case when dims <= 2000 then 'vector' else 'halfvec' end, dims);

-- Worth it only for many rows: 10,000 vectors are looked through in some 20 ms. Not in a transaction with other work.
create function index_embeddings(wanted text) returns boolean language plpgsql as $$
declare
    as_type text := (select vector_type(dims) from embedding_model where model = wanted);
begin
    if as_type is null or not has_pgvector() then
        return false;
    end if;
    execute format('create index if not exists %I on embeddings using hnsw ((vector::%s) %s) where model = %L',
                   'embeddings_hnsw_' || left(md5(wanted), 12), as_type, split_part(as_type, '(', 1) || '_cosine_ops', wanted);
    return true;
end $$;

-- The nearest passages in a collection, best first. An index that is asked for one collection's rows goes on looking until
-- it has enough of them (iterative scan, pgvector 0.8).
create function search_embeddings(collection uuid, wanted text, query real[], most integer)
returns table (node_id uuid, chunk_no integer, start_ms integer, text text, similarity double precision)
language plpgsql stable as $$
declare
    as_type text := (select vector_type(dims) from embedding_model where model = wanted);
begin
    if as_type is null then
        return;
    elsif has_pgvector() then
        perform set_config('hnsw.iterative_scan', 'strict_order', true);
        return query execute format(
            'select e.node_id, e.chunk_no, e.start_ms, e.text, 1 - ((e.vector::%1$s) <=> $1::%1$s) from embeddings e'
            ' where e.model = %2$L and e.collection_node_id = $2 order by (e.vector::%1$s) <=> $1::%1$s limit $3',
            as_type, wanted) using query, collection, most;
    else
        return query
            select e.node_id, e.chunk_no, e.start_ms, e.text,
                   (select sum(a * b) / nullif(sqrt(sum(a * a)) * sqrt(sum(b * b)), 0)
                      from unnest(e.vector, query) pair (a, b)) as near
              from embeddings e
             where e.model = wanted and e.collection_node_id = collection
             order by near desc nulls last limit most;
    end if;
end $$;

-- What an application's INSERT starts, as long as the text is worth reading: JOBBKO_SUGGEST_MIN_CHARS, written here by
-- `jobbko migrate`.
create table graph_setting (
    only_row          boolean primary key default true check (only_row),
    suggest_min_chars integer not null default 200 check (suggest_min_chars >= 0)
);
insert into graph_setting default values;

-- As the owner: who writes notes may not be allowed to send jobs. Each job waits once, however often the text is saved.
create function read_new_text() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
    job text;
begin
    if length(new.content) < (select suggest_min_chars from graph_setting) then
        return null;
    end if;
    foreach job in array array['suggest_edges', 'generate_embeddings'] loop
        begin
            perform enqueue_job(job, jsonb_build_object('node_id', new.id), collection => new.collection_node_id);
        exception when foreign_key_violation or invalid_parameter_value then
            -- No worker has published this job yet; the text is kept all the same, and read when it is saved again.
            raise warning 'the text of node % is not read: %', new.id, sqlerrm;
        end;
    end loop;
    return null;
end $$;
revoke execute on function read_new_text() from public;

create trigger read_new_text after insert on nodes for each row
    when (new.collection_node_id is not null and new.content <> '') execute function read_new_text();
create trigger read_changed_text after update of content on nodes for each row
    when (new.collection_node_id is not null and new.content is distinct from old.content)
    execute function read_new_text();

select isolate_table(made), fence_table(made) from unnest(array['edges', 'embeddings']::regclass[]) made;

alter function grant_api(text) rename to grant_api_before_graph;
create function grant_api(api text) returns void language plpgsql as $$
begin
    perform grant_api_before_graph(api);
    execute format('revoke insert, update on edges from %I', api);
    execute format('grant insert (collection_node_id, source_id, target_id, kind, quote) on edges to %I', api);
    execute format('grant update (state, decided_at) on edges to %I', api);
    execute format('revoke insert, update, delete on embeddings, embedding_model, graph_setting from %I', api);
    execute format('grant select on embedding_model to %I', api);
end $$;
select grant_api_again();
