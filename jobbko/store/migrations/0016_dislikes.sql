-- What listeners do not want: hidden at once, announced after two days, deleted a day after that; and what they do want.
-- An application writes here by INSERT and takes back by DELETE, and cleanup_sweep does the rest.

create table dislikes (
    id                 uuid primary key default gen_random_uuid(),
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    track_id           uuid        not null,
    user_id            uuid        not null,
    -- kept: somebody else likes it; it stays hidden from this listener, and stays.
    state              text        not null default 'hidden' check (state in ('hidden', 'warned', 'kept')),
    disliked_at        timestamptz not null default now(),
    warned_at          timestamptz,
    error              text        not null default '',  -- why it could not be deleted the last time
    unique (user_id, track_id),
    check ((state = 'warned') <= (warned_at is not null)),
    foreign key (track_id, collection_node_id) references tracks (id, collection_node_id) on delete cascade
);

create index dislikes_track on dislikes (track_id);
create index dislikes_collection on dislikes (collection_node_id, state, disliked_at);

create table likes (
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    track_id           uuid        not null,
    user_id            uuid        not null,
    liked_at           timestamptz not null default now(),
    primary key (user_id, track_id),
    foreign key (track_id, collection_node_id) references tracks (id, collection_node_id) on delete cascade
);

create index likes_track on likes (track_id);
create index likes_collection on likes (collection_node_id);

-- What was deleted because nobody wanted it, so that a scan that meets the same sound again leaves it alone.
create table track_tombstones (
    id                 uuid primary key default gen_random_uuid(),
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    content_hash       bytea       not null,
    path_text          text        not null,
    title              text        not null,
    artist_credit      text        not null,
    mb_recording_id    uuid,
    trash_path         text        not null default '',  -- where the file was put; empty: deleted
    deleted_at         timestamptz not null default now(),
    unique (collection_node_id, content_hash)
);

-- A listener says that she dislikes something, not since when: the clock is the queue's. What was deleted is not hers to
-- say either.
alter function grant_api(text) rename to grant_api_of_library;
create function grant_api(api text) returns void language plpgsql as $$
begin
    perform grant_api_of_library(api);
    execute format('revoke insert, update on dislikes, likes from %I', api);
    execute format('grant insert (collection_node_id, track_id, user_id) on dislikes, likes to %I', api);
    execute format('revoke insert, update on track_tombstones from %I', api);
    execute format('revoke insert, update, delete on mbid_redirect from %I', api);
end $$;

select isolate_table(made), fence_table(made) from unnest(array['dislikes', 'likes', 'track_tombstones']::regclass[]) made;

select grant_api_again();
