-- What makes two tracks comparable: a fingerprint of the recording, and a vector of how it sounds.

alter table track_audio_features
    add fingerprint       text,     -- Chromaprint of the first two minutes, as AcoustID takes it
    add embedding         real[],   -- how it sounds, standardised: see jobbko/audio/embedding.py
    add embedding_version integer,  -- only vectors of one version may be compared
    add check ((embedding is null) = (embedding_version is null)),
    add check (cardinality(embedding) between 1 and 1000);

-- The same recording in another file has the same fingerprint, or nearly. Hashed, because one is up to 4 kB.
create index track_audio_features_fingerprint on track_audio_features (collection_node_id, md5(fingerprint))
    where fingerprint is not null;

-- How far apart two vectors of one version are: Euclid, by pgvector where it can be had, else by arithmetic over their 56
-- numbers. Both say the same, pgvector three times as fast; docs/adr/0009-sounds-like.md. Installed later, pgvector is
-- taken into use by `select make_sound_distance()`.
create function make_sound_distance() returns text language plpgsql as $make$
declare
    arithmetic text;
begin
    begin
        create extension if not exists vector;
    exception when insufficient_privilege or feature_not_supported or undefined_file then
        null;
    end;
    if exists (select from pg_extension where extname = 'vector') then
        create or replace function sound_distance(one real[], other real[]) returns double precision
            language sql immutable strict parallel safe
            return one::vector <-> other::vector;
        return 'pgvector';
    end if;
    select string_agg(format('(one[%1$s] - other[%1$s]) * (one[%1$s] - other[%1$s])', place), ' + ')
      into arithmetic from generate_series(1, 56) place;
    execute format('create or replace function sound_distance(one real[], other real[]) returns double precision '
                   'language sql immutable strict parallel safe return sqrt(%s)', arithmetic);
    return 'arithmetic';
end $make$;

select make_sound_distance();
