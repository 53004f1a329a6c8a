-- What was said in a recording: versions of its transcript, each in segments.

create table transcriptions (
    id                 uuid primary key default gen_random_uuid(),
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    media_node_id      uuid        not null,
    version            integer     not null,
    language           text        not null default '',
    model              text        not null default '',
    source             text        not null check (source in ('whisper', 'srt')),
    duration_ms        integer not null check (duration_ms >= 0),
    input_sha256       text        not null,  -- of what it was made from: the same again is no new version
    current            boolean     not null default true,
    created_at         timestamptz not null default now(),
    unique (media_node_id, version),
    foreign key (media_node_id, collection_node_id) references nodes (id, collection_node_id) on delete cascade
);
create unique index transcriptions_current on transcriptions (media_node_id) where current;
create table transcription_segments (
    id                 uuid primary key default gen_random_uuid(),
    collection_node_id uuid    not null references nodes (id) on delete cascade,
    transcription_id   uuid    not null references transcriptions (id) on delete cascade,
    idx                integer not null,
    start_ms           integer not null check (start_ms >= 0),
    end_ms             integer not null,
    text               text    not null,
    speaker            text    not null default '',
    check (end_ms > start_ms),
    unique (transcription_id, idx)
);
select isolate_table(made), fence_table(made)
  from unnest(array['transcriptions', 'transcription_segments']::regclass[]) made;
select grant_api_again();
