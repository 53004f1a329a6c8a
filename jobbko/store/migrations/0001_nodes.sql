-- What owns things: nodes, who may see them, and the collection that is there when nobody names one.

create table nodes (
    id                 uuid primary key default gen_random_uuid(),
    -- The collection that this node belongs to; a collection itself belongs to none.
    collection_node_id uuid references nodes (id) on delete cascade,
    kind               text        not null,  -- 'collection', 'library_root', …
    title              text        not null default '',
    content            text        not null default '',
    metadata           jsonb       not null default '{}' check (jsonb_typeof(metadata) = 'object'),
    created_by         uuid,
    created_at         timestamptz not null default now(),
    updated_at         timestamptz not null default now()
);

create index nodes_collection on nodes (collection_node_id) where collection_node_id is not null;
create index nodes_kind on nodes (kind);

create table node_access (
    node_id    uuid not null references nodes (id) on delete cascade,
    user_id    uuid not null,
    role       text not null check (role in ('viewer', 'operator', 'admin')),
    granted_at timestamptz not null default now(),
    primary key (node_id, user_id)
);

create index node_access_user on node_access (user_id);

insert into nodes (id, kind, title)
values ('00000000-0000-0000-0000-000000000001', 'collection', 'Default collection');
