-- Schedules and the times that have been seen to (migrations/0008_schedules.sql).

-- name: register
insert into schedule as s (name, cron, timezone, first_seen_at)
values (%(name)s, %(cron)s, %(timezone)s, %(now)s)
on conflict (name) do update
   set cron = excluded.cron, timezone = excluded.timezone, first_seen_at = excluded.first_seen_at
 where (s.cron, s.timezone) is distinct from (excluded.cron, excluded.timezone)

-- name: unsent
-- Compared with the latest that was sent, and not with this one alone: a clock that is put back sends nothing again.
select s.enabled and %(tick_at)s >= s.first_seen_at
       and not exists (select from schedule_tick t where t.schedule = s.name and t.tick_at >= %(tick_at)s)
  from schedule s
 where s.name = %(name)s

-- name: lock
-- Schedulers take turns at one schedule, and the next one sees what the last one has committed.
select name from schedule where name = %(name)s for update

-- name: record
insert into schedule_tick (schedule, tick_at, job_id) values (%(name)s, %(tick_at)s, %(job_id)s)

-- name: set_enabled
insert into schedule as s (name, cron, timezone, enabled, first_seen_at)
values (%(name)s, %(cron)s, %(timezone)s, %(enabled)s, clock_timestamp())
on conflict (name) do update set enabled = excluded.enabled, first_seen_at = excluded.first_seen_at
 where s.enabled <> excluded.enabled

-- name: listing
select s.name, s.cron, s.timezone, s.enabled, s.first_seen_at, t.tick_at as last_tick_at, t.sent_at as last_sent_at,
       t.job_id as last_job_id, j.status::text as last_status
  from schedule s
  left join lateral (select tick_at, sent_at, job_id from schedule_tick
                      where schedule = s.name order by tick_at desc limit 1) t on true
  left join job_queue j on j.id = t.job_id
 order by s.name
