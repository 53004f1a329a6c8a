-- The music library: roots, what lies in them, how it sounds, and its pictures.
-- A library root is a collection: deleting its node deletes all that was learned about it, and no file. What belongs
-- together is of one collection, which the foreign keys see to: else a row of hers would take the place of one of his.

create table library_roots (
    collection_node_id uuid primary key references nodes (id) on delete cascade,
    path               bytea   not null unique,  -- as the file system has it; names need not be UTF-8
    path_text          text    not null,
    state              text    not null default 'new'
        check (state in ('new', 'ok', 'absent', 'empty', 'unreadable', 'vanishing')),
    reason             text    not null default '',
    -- An operator's word that the next scan may mark any number of tracks missing; spent by that scan.
    accept_missing     boolean not null default false,
    last_file_count    bigint  not null default 0,
    last_scan_at       timestamptz,
    last_ok_scan_at    timestamptz,
    last_full_scan_at  timestamptz
);

create table scan_run (
    id                 uuid primary key default gen_random_uuid(),
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    full_read          boolean     not null default false,
    state              text        not null default 'running',
    reason             text        not null default '',
    counts             jsonb       not null default '{}',
    started_at         timestamptz not null default now(),
    finished_at        timestamptz
);

create index scan_run_collection on scan_run (collection_node_id, started_at);

create table artists (
    id                 uuid primary key default gen_random_uuid(),
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    artist_key         text        not null,  -- what makes two spellings one artist
    name               text        not null,
    sort_name          text        not null default '',
    mb_artist_id       uuid,
    created_at         timestamptz not null default now(),
    unique (collection_node_id, artist_key),
    unique (id, collection_node_id)
);

create table albums (
    id                  uuid primary key default gen_random_uuid(),
    collection_node_id  uuid        not null references nodes (id) on delete cascade,
    album_key           text        not null,  -- release id, else album artist, title and folder
    title               text        not null,
    artist_id           uuid,
    artist_credit       text        not null default '',
    compilation         boolean     not null default false,
    release_date        text        not null default '',
    year                integer,
    disc_total          integer,
    mb_release_id       uuid,
    mb_release_group_id uuid,
    created_at          timestamptz not null default now(),
    updated_at          timestamptz not null default clock_timestamp(),
    unique (collection_node_id, album_key),
    unique (id, collection_node_id),
    foreign key (artist_id, collection_node_id) references artists (id, collection_node_id)
        on delete set null (artist_id)
);

create index albums_artist on albums (artist_id) where artist_id is not null;

create table tracks (
    id                   uuid primary key default gen_random_uuid(),
    collection_node_id   uuid        not null references nodes (id) on delete cascade,
    path                 bytea       not null,  -- below the root, as the file system has it
    path_text            text        not null,
    path_key             text        not null,  -- in Unicode's composed form: disks differ in it (NFC, NFD)
    state                text        not null default 'ACTIVE' check (state in ('ACTIVE', 'MISSING')),
    missing_since        timestamptz,
    size                 bigint      not null,
    mtime_ns             bigint      not null,
    content_hash         bytea       not null,  -- of both ends of the file and its size
    title                text        not null default '',
    artist_credit        text        not null default '',
    album_id             uuid,
    track_no             integer,
    track_total          integer,
    disc_no              integer,
    genre                text        not null default '',
    release_date         text        not null default '',
    year                 integer,
    isrc                 text        not null default '',
    bpm_tag              real,
    key_tag              text        not null default '',
    duration_ms          bigint,  -- what the header says; the analysis knows better
    codec                text        not null default '',
    sample_rate          integer,
    channels             integer,
    bitrate              integer,
    mb_recording_id      uuid,  -- not unique: one recording is on many releases
    mb_release_track_id  uuid,
    tag_error            text        not null default '',
    audio_features_ready boolean     not null default false,
    created_at           timestamptz not null default now(),
    updated_at           timestamptz not null default now(),
    unique (collection_node_id, path),
    unique (id, collection_node_id),
    foreign key (album_id, collection_node_id) references albums (id, collection_node_id) on delete set null (album_id)
);

create index tracks_path_key on tracks (collection_node_id, path_key);
create index tracks_content on tracks (collection_node_id, content_hash);
create index tracks_album on tracks (album_id) where album_id is not null;

create table track_artists (
    track_id           uuid     not null,
    role               text     not null default 'artist',
    position           smallint not null,
    artist_id          uuid     not null,
    credited_as        text     not null,
    collection_node_id uuid     not null references nodes (id) on delete cascade,
    primary key (track_id, role, position),
    foreign key (track_id, collection_node_id) references tracks (id, collection_node_id) on delete cascade,
    foreign key (artist_id, collection_node_id) references artists (id, collection_node_id) on delete cascade
);

create index track_artists_artist on track_artists (artist_id);
create index track_artists_collection on track_artists (collection_node_id);

create table track_audio_features (
    track_id            uuid        not null,
    analyzer            text        not null,
    analyzer_version    integer     not null,
    collection_node_id  uuid        not null references nodes (id) on delete cascade,
    source_size         bigint      not null,
    source_mtime_ns     bigint      not null,
    status              text        not null check (status in
        ('ok', 'too_short', 'silent', 'undecodable', 'crashed', 'timeout', 'unavailable')),
    reason              text        not null default '',
    engine              text        not null default '',
    partial             boolean     not null default false,  -- less could be decoded than the file promised
    non_finite          boolean     not null default false,  -- NaN or infinite samples were silenced
    decoded_seconds     real,
    analyzed_seconds    real,
    lufs                real,  -- integrated loudness, EBU R128
    lra                 real,  -- loudness range, LU
    true_peak_db        real,  -- dBFS
    bpm                 real,
    bpm_confidence      real,  -- 0 to 5.32: below 1.5 low, above 3.5 excellent
    bpm_alt             real,
    key_pitch_class     smallint check (key_pitch_class between 0 and 11),  -- 0 is C
    key_mode            text check (key_mode in ('major', 'minor')),
    key_strength        real,
    key_name            text,
    key_camelot         text,
    key_agreement       boolean,  -- both key profiles say the same
    key_edma            text,
    key_shaath          text,
    energy              real check (energy between 0 and 1),
    danceability        real check (danceability between 0 and 1),
    dynamic_complexity  real,  -- dB
    onset_rate          real,  -- per second
    spectral_centroid   real,  -- Hz
    melody_voiced_ratio real,
    melody_median_hz    real,
    melody_range        real,  -- semitones, 5th to 95th percentile
    melody_spread       real,  -- semitones, interquartile
    melody_motion       real,  -- mean step between notes, semitones
    melody_turns        real,  -- share of steps that change direction
    chord_change_rate   real,  -- share of frames with a new chord
    hpcp                real[],  -- mean pitch class profile, rotated so that the tonic is first
    cpu_ms              integer,
    peak_rss_mb         integer,
    analyzed_at         timestamptz not null default now(),
    primary key (track_id, analyzer),
    foreign key (track_id, collection_node_id) references tracks (id, collection_node_id) on delete cascade
);

create index track_audio_features_collection on track_audio_features (collection_node_id, status);

create table artwork (
    id                 uuid primary key default gen_random_uuid(),
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    sha256             text        not null,
    mime               text        not null,  -- by the bytes, whatever the name said
    width              integer     not null,
    height             integer     not null,
    bytes              bigint      not null,
    store_path         text        not null,  -- below the artwork folder
    created_at         timestamptz not null default now(),
    unique (collection_node_id, sha256),
    unique (id, collection_node_id)
);

create table artwork_link (
    track_id           uuid,
    album_id           uuid,
    kind               text        not null default 'front',
    artwork_id         uuid        not null,
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    source             text        not null check (source in ('embedded', 'folder', 'coverart', 'discogs', 'user')),
    source_url         text        not null default '',
    created_at         timestamptz not null default now(),
    check (num_nonnulls(track_id, album_id) = 1),
    unique nulls not distinct (track_id, album_id, kind),
    foreign key (track_id, collection_node_id) references tracks (id, collection_node_id) on delete cascade,
    foreign key (album_id, collection_node_id) references albums (id, collection_node_id) on delete cascade,
    foreign key (artwork_id, collection_node_id) references artwork (id, collection_node_id) on delete cascade
);

create index artwork_link_album on artwork_link (album_id) where album_id is not null;
create index artwork_link_artwork on artwork_link (artwork_id);
create index artwork_link_collection on artwork_link (collection_node_id);

-- What a service was asked and did not have, so that it is not asked again tonight.
create table provider_lookup (
    entity_type        text        not null,
    entity_id          uuid        not null,
    provider           text        not null,
    asked              text        not null,  -- what was asked for; another question is another answer
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    status             text        not null check (status in ('ok', 'not_found')),
    miss_count         integer     not null default 0,
    checked_at         timestamptz not null default now(),
    next_check_at      timestamptz not null,
    primary key (collection_node_id, entity_type, entity_id, provider)
);
