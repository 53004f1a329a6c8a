-- What is wrong with a queue that looks well: what `jobbko doctor` asks Postgres.

-- name: snapshots
-- While a transaction is open no dead row that is younger can be cleared away, and a queue makes many of them. Those of
-- this database, and of replicas that report back.
select pid, coalesce(application_name, '') as application, coalesce(state, backend_type, '') as state,
       extract(epoch from clock_timestamp() - xact_start)::float8 as seconds
  from pg_stat_activity
 where pid <> pg_backend_pid() and (datname = current_database() or datname is null)
   and (backend_xmin is not null or backend_xid is not null or state like 'idle in transaction%%')
   and backend_type not like 'autovacuum%%'
   and xact_start < clock_timestamp() - make_interval(secs => %(age)s)
 order by xact_start

-- name: prepared
select gid as name, extract(epoch from clock_timestamp() - prepared)::float8 as seconds
  from pg_prepared_xacts
 where database = current_database() and prepared < clock_timestamp() - make_interval(secs => %(age)s)
 order by prepared

-- name: slots
-- A slot that nobody reads keeps dead rows (xmin) or log files (restart_lsn) until the disk is full.
select slot_name as name, slot_type as kind
  from pg_replication_slots
 where not active and (database = current_database() or database is null)
   and (xmin is not null or catalog_xmin is not null or restart_lsn is not null)
 order by 1

-- name: rows
select coalesce(n_live_tup, 0) as live, coalesce(n_dead_tup, 0) as dead, last_autovacuum
  from pg_stat_user_tables
 where relid = 'job_queue'::regclass

-- name: stuck
select count(*) as jobs, extract(epoch from clock_timestamp() - min(lease_until))::float8 as seconds
  from job_queue
 where state = 'consumed' and lease_until < (select clock_timestamp()) - make_interval(secs => %(age)s)

-- name: fan_ins
select id::text as id, error, callbacks #>> '{0,job_type}' as job_type, created_at
  from flow_barrier
 where error is not null and fired_at is null
 order by created_at

-- name: orphans
select job_type, count(*) as jobs
  from job_queue
 where state = 'queued' and due
   and job_type not in (select unnest(w.job_types) from worker w
                         where w.stopped_at is null
                           and w.heartbeat_at > clock_timestamp() - make_interval(secs => %(lease)s))
 group by 1 order by 1
