-- The dispatcher's turn: finish what is done and claim what is next, in one call and one transaction.

-- The next place at or after (p, l, t, c) in the order of the index job_ready that this worker may take from:
-- a closed lane and a type that is not open are stepped over with one probe each.
create function job_next_place(inout p integer, inout l text, inout t text, inout c uuid, shut text[], open text[],
                               paused uuid[], sated text[])
language plpgsql stable as $$
declare
    last_text constant text := U&'\+10FFFF';
    last_uuid constant uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
begin
    loop
        select (-priority), lane, job_type, collection_node_id into p, l, t, c
          from job_queue
         where state = 'queued' and due
           and ((-priority), lane, job_type, collection_node_id) > (p, l, t, c)
         order by (-priority), lane, job_type, collection_node_id
         limit 1;
        exit when not found;
        if l <> '' and string_to_array(l, '+') && shut then
            t := last_text; c := last_uuid;
        elsif t <> all (open) then
            c := last_uuid;
        elsif c <> all (paused) and (sated = '{}' or t || ':' || c <> all (sated)) then
            exit;
        end if;
    end loop;
end $$;

-- Choose up to `want` jobs of the given types: by priority, then collections in turn, then oldest first. The rows stay
-- locked until commit. `after` is the place (lane, type, collection) served last; `contended` says that a limit was
-- in another worker's hands, so that looking again soon may find more.
create function job_pick(types text[], want integer, inout after text[], out taken tid[], out contended boolean)
language plpgsql as $$
declare
    last_text constant text := U&'\+10FFFF';
    nil constant uuid := '00000000-0000-0000-0000-000000000000';
    last_uuid constant uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    shut text[] := '{}';
    halfopen text[] := '{}';  -- gates that let one job through, to try
    paused uuid[] := '{}';    -- collections
    sated text[] := '{}';     -- "type:collection" that has as many running as one collection may
    here jsonb := '{}';       -- "limit:collection" → how many more of it may run
    mine text;
    open text[] := types;
    limits text[];
    room jsonb := '{}';      -- limit name → how many more may run
    limit_of jsonb := '{}';  -- job type → limit name
    level integer := -32769;
    p integer; l text; t text; c uuid;
    ls text[]; ts text[]; cs uuid[];
    places integer;
    before integer;
    take integer;
    trying text[];
    found_rows tid[];
begin
    contended := false;
    if exists (select from queue_state where closed) then
        perform gate_times_up();
        halfopen := gate_halfopen();
        shut := array(select gate from queue_state where closed and gate <> all (halfopen));
        if 'all' = any (shut) then return; end if;
        open := array(select name from unnest(types) name where 'type:' || name <> all (shut));
        -- Whatever comes after the colon: a name that is no id pauses nobody, and stops nobody's turn.
        paused := array(select substr(gate, 12)::uuid from unnest(shut) gate
                         where gate ~ '^collection:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$');
    end if;
    if exists (select from job_limit) then
        -- Who holds a limit's row decides for it until commit; the others leave its types alone for this turn. The
        -- count is a new statement, so it sees what the last holder committed (a count in the same one would not).
        select coalesce(array_agg(name), '{}') into limits
          from (select name from job_limit
                 where name in (select limit_name from job_type where name = any (types))
                   for update skip locked) held;
        select coalesce(jsonb_object_agg(m.name, m.max_running - (
                   select count(*) from job_queue j
                    where j.state = 'consumed'
                      and j.job_type in (select name from job_type where limit_name = m.name))), '{}')
          into room from job_limit m where m.name = any (limits);
        select coalesce(jsonb_object_agg(name, limit_name), '{}'), coalesce(bool_or(limit_name <> all (limits)), false)
          into limit_of, contended
          from job_type where limit_name is not null and name = any (types);
        select coalesce(array_agg(name), '{}') into open from unnest(open) name
         where limit_of ->> name is null or (room ->> (limit_of ->> name))::integer > 0;
        if exists (select from job_limit where per_collection is not null) then
            select coalesce(jsonb_object_agg(m.name || ':' || r.collection_node_id, m.per_collection - r.running), '{}'),
                   coalesce(array_agg(r.job_type || ':' || r.collection_node_id)
                            filter (where m.per_collection <= r.running), '{}')
              into here, sated
              from (select k.limit_name, t.name as job_type, j.collection_node_id, count(*) as running
                      from job_queue j join job_type k on k.name = j.job_type join job_type t on t.limit_name = k.limit_name
                     where j.state = 'consumed' group by 1, 2, 3) r
              join job_limit m on m.name = r.limit_name and m.per_collection is not null;
        end if;
    end if;

    while want > 0 loop
        select * into p, l, t, c from job_next_place(level, '', '', nil, shut, open, paused, sated);
        exit when p is null;
        level := p;
        ls := '{}'; ts := '{}'; cs := '{}';
        -- First the places behind the one that was served last, then those up to it.
        if after is null then
            after := array['', '', nil::text];
        end if;
        select * into p, l, t, c from job_next_place(level, after[1], after[2], after[3]::uuid, shut, open, paused, sated);
        while p = level and cardinality(ts) < want loop
            ls := ls || l; ts := ts || t; cs := cs || c;
            select * into p, l, t, c from job_next_place(p, l, t, c, shut, open, paused, sated);
        end loop;
        if cardinality(ts) < want and after[2] <> '' then
            select * into p, l, t, c from job_next_place(level, '', '', nil, shut, open, paused, sated);
            while p = level and cardinality(ts) < want and (l, t, c) <= (after[1], after[2], after[3]::uuid) loop
                ls := ls || l; ts := ts || t; cs := cs || c;
                select * into p, l, t, c from job_next_place(p, l, t, c, shut, open, paused, sated);
            end loop;
        end if;

        places := cardinality(ts);
        before := want;
        for i in 1 .. places loop
            take := least(want, (before + places - 1) / places,
                          coalesce((room ->> (limit_of ->> ts[i]))::integer, want));
            trying := case when halfopen <> '{}' then string_to_array(ls[i], '+') else '{}' end;
            continue when take <= 0 or trying && shut;
            if trying && halfopen then take := 1; end if;
            mine := (limit_of ->> ts[i]) || ':' || cs[i];
            take := least(take, coalesce((here ->> mine)::integer,
                                         (select per_collection from job_limit where name = limit_of ->> ts[i]), take));
            if take <= 0 then
                sated := sated || (ts[i] || ':' || cs[i]);
                continue;
            end if;
            select array_agg(picked.ctid) into found_rows from (
                select j.ctid from job_queue j
                 where j.state = 'queued' and j.due and (-j.priority) = level
                   and j.lane = ls[i] and j.job_type = ts[i] and j.collection_node_id = cs[i]
                   and (taken is null or j.ctid <> all (taken))
                 order by j.scheduled_for, j.seq
                 limit take for update skip locked) picked;
            continue when found_rows is null;
            taken := taken || found_rows;
            want := want - cardinality(found_rows);
            after := array[ls[i], ts[i], cs[i]::text];
            if trying && halfopen then
                perform gate_probe(gate, found_rows[1]) from unnest(halfopen) gate where gate = any (trying);
                shut := shut || array(select unnest(trying) intersect select unnest(halfopen));
            end if;
            if limit_of ? ts[i] then
                here := here || jsonb_build_object(mine, coalesce((here ->> mine)::integer, (
                    select per_collection from job_limit where name = limit_of ->> ts[i])) - cardinality(found_rows));
                room := jsonb_set(room, array[limit_of ->> ts[i]],
                                  to_jsonb((room ->> (limit_of ->> ts[i]))::integer - cardinality(found_rows)));
            end if;
        end loop;
        -- Nothing more to be had at this priority, or others are taking it just now: on to the next.
        if want = before then
            select * into p, l, t, c from job_next_place(level, last_text, last_text, last_uuid, shut, open, paused, sated);
            exit when p is null;
            level := p;
        end if;
    end loop;
end $$;

-- What was scheduled for later and is due by now. The sub-select makes the clock an index condition; the bare function
-- would be asked anew for each scheduled row.
create function job_promote(batch integer) returns void language plpgsql as $$
declare
    promoted integer;
begin
    -- All of them, for the most urgent may be due last; in the end there is a limit to what one turn may take.
    for round in 1 .. 100 loop
        -- The first of the index, in words that leave the planner nothing to guess (of `exists` it expects many).
        exit when coalesce((select scheduled_for > clock_timestamp() from job_queue
                             where state = 'queued' and not due and not held order by scheduled_for limit 1), true);
        update job_queue set due = true
         where ctid = any (array(
                   select ctid from job_queue
                    where state = 'queued' and not due and not held
                      and scheduled_for <= (select clock_timestamp())
                    order by scheduled_for limit batch for update skip locked));
        get diagnostics promoted = row_count;
        exit when promoted < batch;
    end loop;
end $$;

-- Finish what is done, then lease what is next. The settings keep the plans on their indexes even when the function
-- was first called while the table was empty.
create function job_turn(done_ids uuid[], done_tokens uuid[], ended jsonb, following jsonb, types text[], want integer,
                         for_worker uuid, lease interval, served text[], promote boolean)
returns table (id uuid, lease_token uuid, job_type text, payload text, args text, options text, attempts smallint,
               max_attempts smallint, collection_node_id uuid, priority smallint, lane text, flow_id uuid,
               step smallint, in_flow boolean, created_ms bigint, scheduled_at double precision, seq bigint,
               turn jsonb)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
#variable_conflict use_column
declare
    passed uuid[] := '{}';
    picked record;
    claimed integer := 0;
begin
    if cardinality(done_ids) > 0 then
        with finished as (
            update job_queue j
               set state = 'done', lease_token = null, lease_until = null, progress = null,
                   completed_at = clock_timestamp(), mtime = clock_timestamp()
              from unnest(done_ids, done_tokens) d (id, token)
             where j.id = d.id and j.lease_token = d.token and j.state = 'consumed'
            returning j.id)
        select coalesce(array_agg(id), '{}') into passed from finished;
    end if;
    if ended is not null then
        passed := passed || array(select job_end(ended));
        perform gate_failures(ended, passed);
    end if;
    if cardinality(passed) > 0 and exists (
        select from queue_state where closed or streak > 0 or suspects <> '{}' or announced is not null) then
        perform gate_successes(passed);
    end if;
    if following is not null then
        -- The worker that adds them takes them in the same turn; only more than it can take is news to the others.
        if jsonb_array_length(following) <= want then perform set_config('jobbko.quiet', 'on', true); end if;
        perform job_add(following, passed, following @? '$[*] ? (exists (@.dedupe_key) || @.dedupe == true)');
    end if;
    if promote then
        perform job_promote(500);
    end if;
    if want > 0 then
        select * into picked from job_pick(types, want, served);
        if picked.taken is not null then
            -- Sent while its subject was being held, by somebody who committed later. (A hold that is locked is just being
            -- released; one that we lock is released after we have committed.)
            if exists (select from job_hold) then
                update job_queue j set held = true, due = false
                 where j.ctid = any (picked.taken) and j.subject is not null
                   and exists (select from job_hold h
                                where h.collection_node_id = j.collection_node_id and h.subject = j.subject
                                  for key share skip locked);
            end if;
            return query
            update job_queue j
               set state = 'consumed', lease_token = gen_random_uuid(), lease_until = clock_timestamp() + lease,
                   worker = for_worker, started_at = clock_timestamp(), mtime = clock_timestamp(), error_msg = null
             where j.ctid = any (picked.taken) and j.state = 'queued' and j.due
            returning j.id, j.lease_token, j.job_type, j.payload::text, j.args::text, j.options::text, j.attempts,
                      j.max_attempts,
                      j.collection_node_id, j.priority, j.lane, j.flow_id, j.step, j.in_flow,
                      (extract(epoch from j.created_at) * 1000)::bigint,
                      extract(epoch from j.scheduled_for)::double precision, j.seq, null::jsonb;
            get diagnostics claimed = row_count;
        end if;
    end if;
    id := null; job_type := null;
    turn := jsonb_build_object('passed', cardinality(passed));
    if cardinality(passed) < coalesce(cardinality(done_ids), 0) + coalesce(jsonb_array_length(ended), 0) then
        turn := turn || jsonb_build_object('passed_ids', passed);
    end if;
    if want > 0 then
        turn := turn || jsonb_build_object('served', picked.after, 'contended', picked.contended);
        if claimed < want then
            turn := turn || jsonb_build_object('next_due', (
                select extract(epoch from min(scheduled_for) - clock_timestamp()) from job_queue
                 where state = 'queued' and not due and not held));
        end if;
    end if;
    return next;
end $$;
