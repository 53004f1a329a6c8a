-- What MusicBrainz says of tracks, albums and artists, and the words of the songs.
-- Tags are their owner's word: what a service says fills what they leave open, and is kept apart in `filled`, so that
-- reading the tags again neither loses it nor takes it for the owner's.

insert into service_rate (service, per_second)
values ('lrclib', 5)  -- it states no limit; https://lrclib.net/docs asks for consideration
on conflict do nothing;

alter table tracks
    add titled              boolean not null default true,  -- by its tags; else the title is the file's name
    add filled              jsonb   not null default '{}',  -- what the tags leave open and MusicBrainz knows
    add mbid_source         text    not null default '' check (mbid_source in ('', 'tag', 'search')),
    add match_distance      real    check (match_distance between 0 and 1),  -- 0: as the release has it
    -- The file as it was when metadata_refresh last looked; other than now: it is due.
    add refreshed_size      bigint,
    add refreshed_mtime_ns  bigint;

create index tracks_unrefreshed on tracks (collection_node_id, id)
 where state = 'ACTIVE' and (refreshed_size is distinct from size or refreshed_mtime_ns is distinct from mtime_ns);

-- By what a song is told that was moved and tagged anew.
create index tracks_release_track on tracks (collection_node_id, mb_release_track_id)
 where mb_release_track_id is not null;
create index tracks_recording on tracks (collection_node_id, mb_recording_id) where mb_recording_id is not null;
create index tracks_title on tracks (collection_node_id, title) where titled;

alter table albums
    add mbid_source     text   not null default '' check (mbid_source in ('', 'tag', 'search')),
    add match_distance  real   check (match_distance between 0 and 1),
    add original_date   text   not null default '',  -- of the first release of its group; as exact as it is known
    add album_type      text   not null default '',  -- Album, Single, EP, …
    add secondary_types text[] not null default '{}',  -- Compilation, Live, Soundtrack, …
    add country         text   not null default '',
    add barcode         text   not null default '';

alter table artists add disambiguation text not null default '';

alter table track_artists
    add source      text not null default 'tag' check (source in ('tag', 'musicbrainz')),
    add join_phrase text not null default '';

-- MusicBrainz merges entries and answers to the old id under the new one; files go on naming the old one.
create table mbid_redirect (
    collection_node_id uuid not null references nodes (id) on delete cascade,
    old                uuid not null,
    new                uuid not null,
    primary key (collection_node_id, old)
);

create table lyrics (
    track_id            uuid        not null,
    source              text        not null check (source in ('embedded', 'sidecar', 'lrclib', 'user')),
    collection_node_id  uuid        not null references nodes (id) on delete cascade,
    synced_lrc          text,                              -- lines with their times, as in an .lrc file
    plain               text,
    instrumental        boolean     not null default false,  -- there is nothing to sing
    language            text        not null default '',
    provider_id         text        not null default '',
    match_kind          text        not null default '' check (match_kind in ('', 'get', 'search')),
    matched_duration_ms bigint,
    fetched_at          timestamptz not null default now(),
    primary key (track_id, source),
    check (instrumental or num_nonnulls(synced_lrc, plain) > 0),
    foreign key (track_id, collection_node_id) references tracks (id, collection_node_id) on delete cascade
);

create index lyrics_collection on lyrics (collection_node_id);

-- Who is asking right now: the tracks of an album need not all ask for its cover.
alter table provider_lookup
    add asked_by uuid,
    drop constraint provider_lookup_status_check,
    add check (status in ('ok', 'not_found', 'asking'));

-- Pictures of one disc of an album, beside that of the whole.
alter table artwork_link
    add disc_no integer,
    add check (disc_no is null or album_id is not null),
    drop constraint artwork_link_track_id_album_id_kind_key,
    add unique nulls not distinct (track_id, album_id, disc_no, kind);

select isolate_table(made), fence_table(made) from unnest(array['mbid_redirect', 'lyrics']::regclass[]) made;

select grant_api_again();
