-- Waveforms, as BBC audiowaveform has them, and recordings known by where their file is.

create unique index nodes_media_file on nodes (collection_node_id, (metadata ->> 'audio_path'))
    where kind = 'media' and metadata ? 'audio_path';

create table media_peaks (
    media_node_id      uuid primary key,
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    sha256             text        not null,  -- of the samples
    length             integer     not null,  -- pairs of peaks
    duration_ms        integer     not null,  -- as decoded
    dat                bytea       not null,  -- the whole .dat file
    created_at         timestamptz not null default now(),
    foreign key (media_node_id, collection_node_id) references nodes (id, collection_node_id) on delete cascade
);
create index media_peaks_collection on media_peaks (collection_node_id);

-- The same as a .json file. A little-endian head of 24 bytes, then the pairs, each number one signed byte.
create function peaks_json(media uuid) returns jsonb language sql stable as $$
    select jsonb_build_object(
               'version', 2, 'channels', 1, 'sample_rate', 8000, 'samples_per_pixel', 400, 'bits', 8, 'length', p.length,
               'data', (select coalesce(jsonb_agg(case when b > 127 then b - 256 else b end order by at), '[]')
                          from generate_series(24, 23 + 2 * p.length) at, get_byte(p.dat, at) b))
      from media_peaks p where p.media_node_id = media
$$;

select isolate_table('media_peaks'), fence_table('media_peaks');

alter function grant_api(text) rename to grant_api_before_peaks;
create function grant_api(api text) returns void language plpgsql as $$
begin
    perform grant_api_before_peaks(api);
    execute format('revoke insert, update, delete on media_peaks, transcriptions from %I', api);
    execute format('revoke insert, update, delete on transcription_segments from %I', api);
    execute format('grant update (text, speaker) on transcription_segments to %I', api);
end $$;
select grant_api_again();
