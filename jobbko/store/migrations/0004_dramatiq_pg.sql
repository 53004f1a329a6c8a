-- dramatiq-pg beside us: its table is a view of ours, so its producers and its command line go on working.

do $$ begin
    -- A database that dramatiq-pg made: keep its table aside under another name, to be converted below.
    if (select relkind from pg_class where oid = to_regclass('dramatiq.queue')) in ('r', 'p') then
        alter table dramatiq.queue rename to queue_before_jobbko;
    end if;
end $$;

create view dramatiq.queue as
select id as message_id, queue_name, state, mtime, message, result, result_ttl from job_queue;

-- A message as dramatiq-pg's producers write it becomes a job. Never an error: their retry would block send() for over
-- a minute. What cannot run is a dead letter with its reason; a job that no worker has told us about waits for one.
create function job_foreign_insert() returns trigger language plpgsql as $$
declare
    type job_type;
    arguments jsonb := '[]';
    fault text;
begin
    new.lane := ''; new.flow_id := coalesce(new.flow_id, new.id); new.max_attempts := 5; new.priority := 5;
    new.state := coalesce(new.state, 'queued'); new.mtime := coalesce(new.mtime, clock_timestamp());
    if new.message is null then
        -- A stored result without a message: dramatiq-pg files it under this queue name.
        new.job_type := '__RQ__';
        return new;
    end if;
    if job_is_message(new.message) then
        new.job_type := new.message ->> 'actor_name';
        select * into type from job_type where name = new.job_type;
        new.payload := coalesce(nullif(new.message -> 'kwargs', 'null'), '{}');
        new.options := nullif(coalesce(nullif(new.message -> 'options', 'null'), '{}') - 'eta', '{}');
        arguments := coalesce(nullif(new.message -> 'args', 'null'), '[]');
        if type.all_named and cardinality(type.parameters) < jsonb_array_length(arguments) then
            fault := format('%s takes %s arguments, not %s', type.name, cardinality(type.parameters),
                            jsonb_array_length(arguments));
        elsif type.all_named then  -- a known job: positional arguments get their names
            new.payload := new.payload || coalesce((
                select jsonb_object_agg(type.parameters[position], value)
                  from jsonb_array_elements(arguments) with ordinality argument (value, position)), '{}');
            arguments := '[]';
            fault := job_payload_fault(type, new.payload);
        elsif octet_length(new.payload::text) + octet_length(arguments::text) > 65536 then
            fault := format('the arguments of %s have more than 65536 bytes; pass audio and other files by path',
                            new.job_type);
        end if;
        new.args := nullif(arguments, '[]');
        new.priority := coalesce(type.priority, 5);
        new.max_attempts := coalesce(type.max_attempts, 5);
        new.gates := coalesce(type.gates, '{}');
        new.lane := array_to_string(new.gates, '+');
        new.scheduled_for := coalesce(job_time_of(new.message #> '{options,eta}'), new.scheduled_for);
        new.created_at := coalesce(job_time_of(new.message -> 'message_timestamp'), new.created_at);
    else
        new.job_type := coalesce(new.message ->> 'actor_name', '');
        fault := 'not a Dramatiq message: ' || left(new.message::text, 500);
    end if;
    if new.queue_name like '%.DQ' then
        new.queue_name := left(new.queue_name, -3);
    end if;
    new.due := new.scheduled_for <= clock_timestamp();
    if fault is not null and new.state in ('queued', 'consumed') then
        new.state := 'rejected'; new.error_msg := fault; new.completed_at := clock_timestamp();
        new.payload := '{}'; new.args := null; new.options := null;
        return new;  -- with the message, for whoever wants to look
    end if;
    if new.state in ('done', 'rejected') then
        new.completed_at := new.mtime;
    end if;
    if fault is null then new.message := null; end if;
    return new;
end $$;

-- Whether it has the shape that Dramatiq gives a message.
create function job_is_message(message jsonb) returns boolean language sql immutable as $$
    select jsonb_typeof(message) = 'object' and coalesce(message ->> 'actor_name', '') <> ''
       and coalesce(jsonb_typeof(message -> 'args'), 'null') in ('array', 'null')
       and coalesce(jsonb_typeof(message -> 'kwargs'), 'null') in ('object', 'null')
       and coalesce(jsonb_typeof(message -> 'options'), 'null') in ('object', 'null')
$$;

-- Dramatiq's milliseconds since 1970; null for what is none, such as microseconds by mistake.
create function job_time_of(milliseconds jsonb) returns timestamptz language sql immutable as $$
    select case when jsonb_typeof(milliseconds) = 'number'
                 and (milliseconds #>> '{}')::numeric between 0 and 253000000000000
                then to_timestamp((milliseconds #>> '{}')::double precision / 1000) end
$$;

create trigger job_foreign_insert before insert on job_queue for each row
    when (new.lane is null and (new.message is not null or new.queue_name = '__RQ__'))
    execute function job_foreign_insert();

-- Who changes a state without changing the lease token is not us: dramatiq-pg's send() of a known id, its consumers and
-- its `recover`. None of them may move a leased row, and nothing they write may lose a job.
create function job_foreign_update() returns trigger language plpgsql as $$
begin
    if old.state = 'consumed' and old.lease_until > clock_timestamp() then return null; end if;
    if old.state = 'done' or new.state = 'consumed' then return null; end if;
    if old.state = 'rejected' and new.state = 'queued' then  -- sent again: revived, as if never tried
        new.attempts := 0; new.error_msg := null; new.cancelled := false; new.completed_at := null; new.due := true;
    elsif old.state = 'consumed' and new.state = 'queued' then  -- recovered
        new.due := true;
    end if;
    new.message := null; new.queue_name := old.queue_name; new.mtime := clock_timestamp();
    new.lease_token := null; new.lease_until := null;
    return new;
end $$;

create trigger job_foreign_update before update of state on job_queue for each row
    when (new.lease_token is not distinct from old.lease_token
          and (new.state is distinct from old.state or new.message is not null or old.state in ('consumed', 'done')))
    execute function job_foreign_update();

-- `flush` deletes what runs, too. A cascade (the collection is deleted) comes from inside a trigger and passes.
create function job_foreign_delete() returns trigger language plpgsql as $$
begin
    if pg_trigger_depth() > 1 or old.lease_until <= clock_timestamp() then
        perform pg_notify('jobbko_cancel', '');  -- whoever runs it shall stop
        return old;
    end if;
    return null;
end $$;

create trigger job_foreign_delete before delete on job_queue for each row
    when (old.state = 'consumed') execute function job_foreign_delete();

do $$ begin
    if to_regclass('dramatiq.queue_before_jobbko') is not null then
        -- What ran when the table was converted has no lease with us: it waits again.
        insert into job_queue (id, queue_name, state, mtime, message, result, result_ttl)
        select message_id, queue_name,
               case when state = 'consumed' or state is null then 'queued'::dramatiq.state else state end,
               mtime, case when message is null and queue_name <> '__RQ__' then 'null' else message end,
               result, result_ttl
          from dramatiq.queue_before_jobbko;
        drop table dramatiq.queue_before_jobbko;
    end if;
end $$;
