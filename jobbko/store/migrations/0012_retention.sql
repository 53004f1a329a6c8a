-- How long finished jobs are kept, and what a person has said about limits.

-- By how it ended and when, so that neither dead letters that are kept for ever nor anything else that stays is walked
-- over to find what may go.
drop index job_finished;
create index job_finished on job_queue (status, mtime) where state in ('done', 'rejected');
-- So that "does this flow go on?" is one probe, however many of its steps are over.
drop index job_flow;
create index job_flow on job_queue (flow_id, state) where parent_id is not null;

-- Delete up to `most` finished jobs of each kind that ended longer ago than is said; null keeps a kind for ever. What
-- somebody has locked is left for the next time, and so is what belongs to a flow that goes on: its later steps may ask
-- for what the earlier ones have found. Returns how many are gone.
create function job_purge(completed interval, cancelled interval, dead interval, most integer) returns integer
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    kind job_status;
    age interval;
    gone integer;
    total integer := 0;
begin
    for kind, age in values ('completed'::job_status, completed), ('cancelled', cancelled), ('error', dead) loop
        continue when age is null;
        delete from job_queue
         where ctid = any (array(
                   select j.ctid from job_queue j
                    where j.status = kind and j.state in ('done', 'rejected')
                      and j.mtime < (select clock_timestamp()) - age
                      -- Two probes for each row. (`not exists` would be made a join, which reads the whole table.)
                      and (select step.id from job_queue step
                            where step.flow_id = j.flow_id and step.parent_id is not null
                              and step.state in ('queued', 'consumed') limit 1) is null
                      and (select step.id from job_queue step
                            where step.id = j.flow_id and step.state in ('queued', 'consumed')) is null
                    order by j.mtime
                    limit most for update of j skip locked));
        get diagnostics gone = row_count;
        total := total + gone;
    end loop;
    return total;
end $$;

-- Set by a person: what the code says does not replace it.
alter table job_limit add column by_hand boolean not null default false;
