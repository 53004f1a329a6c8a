-- What is deleted because it is old. The jobs themselves: job_purge in migrations/0012_retention.sql.

-- name: purge
select job_purge(make_interval(secs => %(completed)s), make_interval(secs => %(cancelled)s),
                 make_interval(secs => %(dead)s), %(most)s)

-- name: purgeable
select status::text as status, count(*) as jobs
  from job_queue j
 where state in ('done', 'rejected')
   and mtime < (select clock_timestamp()) - case status when 'completed' then make_interval(secs => %(completed)s)
                                                        when 'cancelled' then make_interval(secs => %(cancelled)s)
                                                        else make_interval(secs => %(dead)s) end
   and not exists (select from job_queue step
                    where (step.id = j.flow_id or step.flow_id = j.flow_id and step.parent_id is not null)
                      and step.state in ('queued', 'consumed'))
 group by 1 order by 1

-- name: prune_workers
delete from worker where coalesce(stopped_at, heartbeat_at) < clock_timestamp() - make_interval(secs => %(age)s)

-- name: prune_ticks
-- The latest of each schedule stays: it says what has been sent.
delete from schedule_tick t
 where tick_at < clock_timestamp() - make_interval(secs => %(age)s)
   and tick_at < (select max(tick_at) from schedule_tick later where later.schedule = t.schedule)

-- name: prune_events
delete from queue_event where at < clock_timestamp() - make_interval(secs => %(age)s)

-- name: prune_barriers
-- Also those that nobody can arrive at any more: their group was never sent, or all of it is gone. A dead branch may still
-- be requeued. (A probe for each barrier; `not exists` could be made a join, which reads the whole queue.)
delete from flow_barrier b
 where fired_at < clock_timestamp() - make_interval(secs => %(age)s)
    or fired_at is null and created_at < clock_timestamp() - make_interval(secs => %(age)s)
   and (select j.barrier from job_queue j where j.barrier = b.id and j.state <> 'done' limit 1) is null
