-- What is applied, and the lock that lets many processes start at once.

-- name: lock
select pg_advisory_xact_lock(hashtext('jobbko migrate'))

-- name: create
create table if not exists jobbko_migration (
    name       text primary key,
    applied_at timestamptz not null default now()
)

-- name: exists
select to_regclass('jobbko_migration') is not null

-- name: applied
select array_agg(name order by name) from jobbko_migration

-- name: record
insert into jobbko_migration (name) values (%(name)s)
