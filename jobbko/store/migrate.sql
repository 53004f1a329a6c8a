-- What is applied, and the lock that lets many processes start at once.

-- name: lock
select pg_advisory_xact_lock(hashtext('jobbko migrate'))

-- name: create
create table if not exists jobbko_migration (
    name       text primary key,
    applied_at timestamptz not null default now()
);
alter table jobbko_migration add column if not exists sha256 text;  -- of the file as it was applied

-- name: exists
select to_regclass('jobbko_migration') is not null

-- name: applied
select jsonb_object_agg(name, to_jsonb(m) ->> 'sha256') from jobbko_migration m

-- name: record
insert into jobbko_migration (name, sha256) values (%(name)s, %(sha256)s)
