-- How often outside services may be asked, over all workers and hosts.

create table service_rate (
    service    text primary key,
    per_second double precision not null check (per_second > 0),
    -- The next free moment. Whoever asks takes it and moves it on; nobody has to give anything back.
    next_at    timestamptz not null default '-infinity'
);

insert into service_rate (service, per_second)
values ('musicbrainz', 1),          -- https://musicbrainz.org/doc/MusicBrainz_API/Rate_Limiting
       ('discogs', 50 / 60.0),      -- 60 a minute with a token, less a margin
       ('acoustid', 3);             -- https://acoustid.org/webservice

-- Take the next free moment of a service; seconds until then, 0 if it has no rate.
create function rate_take(of_service text) returns double precision language sql as $$
    with taken as (
        update service_rate
           set next_at = greatest(next_at, clock_timestamp()) + interval '1 second' / per_second
         where service = of_service
        returning next_at - interval '1 second' / per_second as moment)
    select coalesce((select greatest(extract(epoch from moment - clock_timestamp()), 0) from taken), 0)::double precision
$$;
