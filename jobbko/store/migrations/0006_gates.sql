-- Gates: pause instead of fail. What closes and opens them, and who is told.

-- The job that is trying now.
alter table queue_state add column probe uuid;

create function gate_event(gate text, event text, reason text, resume_at timestamptz, note text, owner text,
                           announce boolean default false) returns void language sql as $$
    insert into queue_event (gate, event, reason, resume_at, note, owner, announce)
    values (gate, event, reason, resume_at, note, owner, announce)
$$;

-- Close a gate. seconds: how long the other side asked for, between one second and one hour, or null for a wait that
-- doubles from 60 s to an hour with each outage since the last success. job: whose failure it was. A person's pause is
-- never replaced, and what runs into a gate that is closed already only makes it wait longer, unless it was the trial.
create function gate_close(name text, why text, seconds double precision, until timestamptz, because text, who text,
                           job uuid default null) returns void language plpgsql as $$
declare
    state queue_state;
    opens timestamptz;
    counts boolean := why = 'outage' and seconds is null and until is null;
begin
    insert into queue_state (gate) values (name) on conflict do nothing;
    select * into state from queue_state where gate = name for update;
    if state.closed and state.reason = 'manual' and why <> 'manual' then return; end if;
    -- Nor is what waits for money or a key made an outage, which opens by itself; only the trial may find out otherwise.
    if state.closed and state.reason in ('credit', 'auth') and why = 'outage' and state.probe is distinct from job then
        return;
    end if;
    opens := case
        when until is not null then case when why = 'manual' then until
                                         else greatest(until, clock_timestamp() + interval '1 second') end
        when seconds is not null then clock_timestamp() + least(greatest(seconds, 1), 3600) * interval '1 second'
        when why = 'outage' then clock_timestamp() + least(60 * 2 ^ least(state.streak, 6), 3600) * interval '1 second'
        when why = 'budget' then date_trunc('day', clock_timestamp() at time zone 'UTC') at time zone 'UTC'
                                 + interval '1 day'
    end;
    if state.closed and state.reason = why and why <> 'manual' and not (state.probing and coalesce(state.probe = job, true)) then
        update queue_state set resume_at = greatest(resume_at, opens) where gate = name and opens is not null and not counts;
        return;
    end if;
    update queue_state
       set closed = true, reason = why, since = case when state.closed and state.reason = why then state.since
                                                     else clock_timestamp() end,
           resume_at = opens, probing = false, probe = null, note = because, owner = who, announced = why,
           streak = state.streak + counts::int, suspects = case when why = 'outage' then '{}' else state.suspects end
     where gate = name;
    perform gate_event(name, 'closed', why, opens, because, who, state.announced is distinct from why and why <> 'manual');
end $$;

-- Open a gate by hand, whatever closed it. False if it was open.
create function gate_open(name text, who text) returns boolean language plpgsql as $$
begin
    update queue_state
       set closed = false, probing = false, probe = null, streak = 0, suspects = '{}', announced = null, resume_at = null, since = null
     where gate = name and closed;
    if not found then return false; end if;
    perform gate_event(name, 'opened', null, null, null, who);
    perform pg_notify('jobbko', '');
    return true;
end $$;

-- A person's pause that has an end, and a budget's day, are over at their time: they open without a trial.
create function gate_times_up() returns void language plpgsql as $$
declare
    name text;
begin
    for name in
        update queue_state set closed = false, resume_at = null, since = null, announced = null
         where closed and reason in ('manual', 'budget') and resume_at <= (select clock_timestamp())
        returning gate
    loop
        perform gate_event(name, 'opened', null, null, null, 'clock');
    end loop;
end $$;

-- The gates that may let one job through now: their time has come, and no trial is under way. Who holds the row decides.
create function gate_halfopen() returns text[] language plpgsql as $$
begin
    if not exists (select from queue_state where closed and resume_at <= (select clock_timestamp())) then
        return '{}';
    end if;
    return array(select gate from queue_state s
                  where closed and reason not in ('manual', 'budget') and resume_at <= (select clock_timestamp())
                    and not (probing and exists (
                            select from job_queue j
                             where j.id = s.probe and j.state = 'consumed' and j.lease_until > clock_timestamp()))
                    for update of s skip locked);
end $$;

-- One job, whose row is at this place, has been let through. If it is never heard of again, another one may try in a
-- minute, or when its lease is over.
create function gate_probe(name text, place tid) returns void language plpgsql as $$
begin
    update queue_state
       set probing = true, probe = (select id from job_queue where ctid = place),
           resume_at = clock_timestamp() + interval '60 seconds'
     where gate = name;
    perform gate_event(name, 'probe', reason, resume_at, null, null) from queue_state where gate = name;
end $$;

-- What ended badly, and whether the outside is to blame. A plain 500 is often the job's own fault; three in a row from
-- three different jobs are an outage, and those three get their attempt back.
create function gate_failures(ended jsonb, passed uuid[]) returns void language plpgsql as $$
declare
    item record;
    seen uuid[];
begin
    for item in
        select id, gate, reason, seconds, until, error, suspect
          from jsonb_to_recordset(ended) as i (
                   id uuid, gate text, reason text, seconds double precision, until timestamptz, error text, suspect text)
         where (gate is not null or suspect is not null) and id = any (passed)
    loop
        if item.gate is not null then
            -- Without a reason the gate was found closed and nobody was asked; a person's pause is there already.
            if item.reason <> 'manual' then
                perform gate_close(item.gate, item.reason, item.seconds, item.until, item.error, null, item.id);
            end if;
            -- Nothing holds the job up if the gate is open by now; it shall not run round and round all the same.
            update job_queue set due = false, scheduled_for = clock_timestamp() + interval '1 second'
             where id = item.id and state = 'queued' and due
               and not exists (select from queue_state where gate = item.gate and closed);
            continue;
        end if;
        insert into queue_state (gate) values (item.suspect) on conflict do nothing;
        update queue_state set suspects = array(select distinct unnest(suspects || item.id)) where gate = item.suspect
        returning suspects into seen;
        if cardinality(seen) >= 3 then
            perform gate_close(item.suspect, 'outage', null, null, item.error, null, item.id);
            perform gate_revive(item.suspect, seen);
        end if;
    end loop;
end $$;

-- The attempt that these jobs lost to an outage is given back, in their row and in the list of attempts. Row by row: a
-- dead one whose equal waits by now stays dead, since the equal does its work, and the others shall not pay for it.
create function gate_revive(name text, jobs uuid[]) returns void language plpgsql as $$
declare
    job record;
begin
    for job in
        select id, attempts, gates from job_queue
         where id = any (jobs) and not cancelled and (state = 'queued' or state = 'rejected')
         order by id for update
    loop
        begin
            update job_queue
               set state = 'queued', attempts = greatest(attempts - 1, 0), due = not held, scheduled_for = clock_timestamp(),
                   completed_at = null, lease_token = gen_random_uuid(), mtime = clock_timestamp(),
                   gates = case when name = any (gates) then gates else gates || name end,
                   lane = case when name = any (gates) then lane else array_to_string(gates || name, '+') end
             where id = job.id;
            update job_attempt_failed set outcome = 'refunded'
             where ctid = (select ctid from job_attempt_failed
                            where job_id = job.id and attempt = job.attempts and outcome in ('retry', 'dead')
                            order by ended_at desc limit 1);
        exception when unique_violation then
            null;
        end;
    end loop;
end $$;

-- A job that succeeded shows that what it needs is there: an outage is over, and the counting starts anew. Not if it was
-- under way before the gate closed: a service that answers by halves and asks for patience gets it. Credit, keys and
-- budgets are for a person or the clock to say. The trial itself speaks for every gate that let it through.
create function gate_successes(passed uuid[]) returns void language plpgsql as $$
declare
    name text;
begin
    for name in
        select gate from queue_state
         where (closed or streak > 0 or suspects <> '{}' or announced is not null)
           and gate in (select unnest(gates) from job_queue where id = any (passed) and state = 'done')
         order by gate for update
    loop
        update queue_state set streak = 0, suspects = '{}', announced = null where gate = name and not closed;
        update queue_state s
           set closed = false, probing = false, probe = null, resume_at = null, since = null, announced = null, streak = 0,
               suspects = '{}'
         where gate = name and closed
           and exists (select from job_queue j
                        where j.id = any (passed) and j.state = 'done' and name = any (j.gates)
                          and (s.probing and j.id = s.probe or s.reason = 'outage' and j.started_at > s.since));
        if found then
            perform gate_event(name, 'opened', null, null, null, 'a job succeeded');
            perform pg_notify('jobbko', '');
        end if;
    end loop;
    -- A trial that failed by its own fault says nothing about the gate: the next one may try at once.
    update queue_state set probing = false, probe = null, resume_at = clock_timestamp()
     where closed and probing and probe = any (passed)
       and exists (select from job_queue where id = probe and state <> 'done');
end $$;

-- A job that writes its end itself, inside its own transaction; what it shows of its gates is known with it. False if
-- the lease is lost.
create function job_complete(job uuid, token uuid, answer jsonb) returns boolean language plpgsql as $$
begin
    update job_queue
       set state = 'done', result = answer, lease_token = null, lease_until = null, progress = null,
           completed_at = clock_timestamp(), mtime = clock_timestamp()
     where id = job and lease_token = token and state = 'consumed';
    if not found then return false; end if;
    if exists (select from queue_state where closed or streak > 0 or suspects <> '{}' or announced is not null) then
        perform gate_successes(array[job]);
    end if;
    return true;
end $$;
