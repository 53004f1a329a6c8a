-- Schedules: what is sent at set times, and which of those times have been seen to.

create table schedule (
    name          text collate "C" primary key,  -- the job type
    cron          text        not null,
    timezone      text        not null,
    enabled       boolean     not null default true,
    -- Since when it is as it is: first seen by a scheduler, given another cron, or enabled again. Nothing older is made
    -- up for.
    first_seen_at timestamptz not null
);

-- One row for each time that has been seen to; inserted together with its job, so there is never one without the other.
-- Times that passed while no scheduler ran have no row: the latest of them stands for all.
create table schedule_tick (
    schedule text        not null references schedule (name) on delete cascade,
    tick_at  timestamptz not null,
    job_id   uuid,  -- no foreign key: jobs are deleted sooner or later, and deleting one must not search here
    sent_at  timestamptz not null default clock_timestamp(),
    primary key (schedule, tick_at)
);
