-- Pieces of a recording that have been transcribed, until all of them are: a killed job goes on where it was.
-- Known by the sound itself and by how it was asked about, so that a piece is never paid for twice.

create table heard_piece (
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    sha256             text        not null,  -- of its samples, the model, the language and the prompt
    cues               jsonb       not null,  -- [[start, end, text], …], seconds from the beginning of the piece
    heard_at           timestamptz not null default now(),
    primary key (collection_node_id, sha256)
);
create index heard_piece_age on heard_piece (heard_at);

select isolate_table('heard_piece'), fence_table('heard_piece');

alter function grant_api(text) rename to grant_api_before_heard;
create function grant_api(api text) returns void language plpgsql as $$
begin
    perform grant_api_before_heard(api);
    execute format('revoke all on heard_piece from %I', api);
end $$;
select grant_api_again();
