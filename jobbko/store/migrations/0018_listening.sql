-- Listening: sessions and what was played in them come in; batches of what to play next, each pick with its reason, go out.
-- An application reports by INSERT, recommendation_gen follows by itself. Who listened to what is hers alone to see.

create table listening_session (
    id                 uuid primary key default gen_random_uuid(),
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    user_id            uuid        not null,
    started_at         timestamptz not null default now(),
    unique (id, collection_node_id),
    unique (id, user_id, collection_node_id)
);

create index listening_session_collection on listening_session (collection_node_id, user_id);

create table playback_event (
    id                 uuid primary key,  -- the player's own, so that a report that is repeated counts once
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    session_id         uuid        not null,
    user_id            uuid        not null,
    track_id           uuid        not null,
    started_at         timestamptz not null default now(),
    ended_at           timestamptz,
    played_ms          bigint      check (played_ms >= 0),
    completed          boolean     not null default false,
    skipped_at_ms      bigint      check (skipped_at_ms >= 0),
    source             text        not null default '',  -- where the player had it from: vibe, search, album, …
    check (not (completed and skipped_at_ms is not null)),
    unique (id, collection_node_id),
    foreign key (session_id, user_id, collection_node_id)
        references listening_session (id, user_id, collection_node_id) on delete cascade,
    foreign key (track_id, collection_node_id) references tracks (id, collection_node_id) on delete cascade
);

create index playback_event_session on playback_event (session_id, track_id);
create index playback_event_heard on playback_event (user_id, track_id);
create index playback_event_track on playback_event (track_id);
create index playback_event_collection on playback_event (collection_node_id);

-- Derived from playback_event by count_plays(), for nobody else to write. A file that is missing keeps its history.
create table play_stats (
    user_id            uuid        not null,
    track_id           uuid        not null,
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    plays              integer     not null default 0,  -- to the end
    skips              integer     not null default 0,
    skips_since_play   integer     not null default 0,
    last_played_at     timestamptz,
    last_skipped_at    timestamptz,
    primary key (user_id, track_id),
    foreign key (track_id, collection_node_id) references tracks (id, collection_node_id) on delete cascade
);

create index play_stats_track on play_stats (track_id);
create index play_stats_collection on play_stats (collection_node_id);

create table vibe_batch (
    id                 uuid primary key default gen_random_uuid(),
    collection_node_id uuid        not null references nodes (id) on delete cascade,
    session_id         uuid        not null,
    trigger            text        not null check (trigger in ('session_start', 'playback_completed')),
    seq                integer     not null check (seq > 0),
    algorithm_version  integer     not null,
    seed               bigint      not null,  -- the same database and the same seed make the same batch
    after_event        uuid,                  -- the last playback that it knows of
    reason             text        not null default '',  -- why there is less in it than usual
    created_at         timestamptz not null default clock_timestamp(),
    unique (session_id, trigger, seq),
    unique (id, session_id, collection_node_id),
    foreign key (session_id, collection_node_id) references listening_session (id, collection_node_id) on delete cascade,
    foreign key (after_event, collection_node_id) references playback_event (id, collection_node_id)
        on delete set null (after_event)
);

create index vibe_batch_collection on vibe_batch (collection_node_id);
create index vibe_batch_after_event on vibe_batch (after_event) where after_event is not null;

-- What a batch was to sound like.
create table vibe_seed (
    batch_id           uuid not null,
    track_id           uuid not null,
    session_id         uuid not null,
    collection_node_id uuid not null references nodes (id) on delete cascade,
    kind               text not null check (kind in ('played', 'favourite', 'chance')),
    weight             real not null check (weight > 0),
    primary key (batch_id, track_id),
    foreign key (batch_id, session_id, collection_node_id)
        references vibe_batch (id, session_id, collection_node_id) on delete cascade,
    foreign key (track_id, collection_node_id) references tracks (id, collection_node_id) on delete cascade
);

create index vibe_seed_track on vibe_seed (track_id);
create index vibe_seed_collection on vibe_seed (collection_node_id);

create table vibe_batch_item (
    batch_id           uuid    not null,
    pos                integer not null check (pos > 0),
    track_id           uuid    not null,
    session_id         uuid    not null,
    collection_node_id uuid    not null references nodes (id) on delete cascade,
    score              real    not null,  -- 1: sounds like what the batch was to sound like, and was never skipped
    explored           boolean not null default false,  -- off the beaten track, and meant to be
    reason             text    not null,
    primary key (batch_id, pos),
    unique (batch_id, track_id),
    unique (session_id, track_id),  -- nothing is offered twice in a session
    foreign key (batch_id, session_id, collection_node_id)
        references vibe_batch (id, session_id, collection_node_id) on delete cascade,
    foreign key (track_id, collection_node_id) references tracks (id, collection_node_id) on delete cascade
);

create index vibe_batch_item_track on vibe_batch_item (track_id);
create index vibe_batch_item_collection on vibe_batch_item (collection_node_id);

-- Counted anew and not up, so that whatever becomes of an event (ended, corrected, deleted) the sum is right.
create function count_plays() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
    event playback_event;
    played timestamptz;
begin
    if tg_op = 'DELETE' then
        event := old;  -- with its track, perhaps: then there is no row any more, and none is made
    else
        event := new;
        insert into play_stats (user_id, track_id, collection_node_id)
        values (event.user_id, event.track_id, event.collection_node_id)
        on conflict (user_id, track_id) do nothing;
    end if;
    -- Whoever reports of the same track at the same time waits here, and then counts what we have written.
    perform from play_stats where user_id = event.user_id and track_id = event.track_id for no key update;
    select max(coalesce(ended_at, started_at)) into played
      from playback_event where user_id = event.user_id and track_id = event.track_id and completed;
    update play_stats s
       set plays = c.plays, skips = c.skips, skips_since_play = c.since, last_played_at = played,
           last_skipped_at = c.skipped_at
      from (select count(*) filter (where completed) as plays,
                   count(*) filter (where skipped_at_ms is not null) as skips,
                   count(*) filter (where skipped_at_ms is not null and (played is null or started_at > played)) as since,
                   max(coalesce(ended_at, started_at)) filter (where skipped_at_ms is not null) as skipped_at
              from playback_event where user_id = event.user_id and track_id = event.track_id) c
     where s.user_id = event.user_id and s.track_id = event.track_id;
    return null;
end $$;

create trigger count_plays after insert or delete or update of completed, skipped_at_ms, started_at, ended_at
    on playback_event for each row execute function count_plays();

-- One job waits for a session, however much is played meanwhile: it looks at all that has happened when it starts. As the
-- owner, because a listener may not send jobs; priority and parameters are not hers to choose.
create function recommend_next() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
    of_session uuid := case tg_table_name when 'listening_session' then to_jsonb(new) ->> 'id'
                                          else to_jsonb(new) ->> 'session_id' end;
begin
    perform enqueue_job('recommendation_gen',
                        jsonb_build_object('listening_session_id', of_session, 'trigger', tg_argv[0]),
                        dedupe_key => 'recommendation_gen:' || of_session, collection => new.collection_node_id);
    return null;
exception when foreign_key_violation or invalid_parameter_value then
    -- No worker has published this job, or none that knows it like this. That somebody listens is written down all the
    -- same; the next track that is played to the end tries again.
    raise warning 'nothing is recommended in the session %: %', of_session, sqlerrm;
    return null;
end $$;

create trigger recommend_next after insert on listening_session
    for each row execute function recommend_next('session_start');
create trigger recommend_next after insert on playback_event
    for each row when (new.completed) execute function recommend_next('playback_completed');
create trigger recommend_next_when_completed after update of completed on playback_event
    for each row when (new.completed and not old.completed) execute function recommend_next('playback_completed');

revoke execute on function count_plays(), recommend_next() from public;

-- A player says what was played and how far. What is counted and recommended is not for it to write.
alter function grant_api(text) rename to grant_api_before_listening;
create function grant_api(api text) returns void language plpgsql as $$
begin
    perform grant_api_before_listening(api);
    execute format('revoke insert, update on listening_session, playback_event from %I', api);
    execute format('grant insert (id, collection_node_id, user_id) on listening_session to %I', api);
    execute format('grant insert on playback_event to %I', api);
    execute format('grant update (ended_at, played_ms, completed, skipped_at_ms) on playback_event to %I', api);
    execute format('revoke insert, update, delete on play_stats, vibe_batch, vibe_seed, vibe_batch_item from %I', api);
end $$;

do $$
declare
    made text;
    hers constant text := 'can_see(collection_node_id) and user_id = nullif(current_setting(''jobbko.user_id'', true),'
                          ' '''')::uuid';
begin
    foreach made in array array['listening_session', 'playback_event', 'play_stats', 'vibe_batch', 'vibe_seed',
                                'vibe_batch_item'] loop
        perform isolate_table(made::regclass), fence_table(made::regclass);
        -- Whoever may look at a collection may listen to it; and nobody, an admin neither, sees what others listen to.
        execute format('drop policy seen on %1$I; drop policy added on %1$I; drop policy changed on %1$I;'
                       ' drop policy deleted on %1$I', made);
        if made in ('listening_session', 'playback_event', 'play_stats') then
            execute format('create policy hers on %1$I using (%2$s) with check (%2$s)', made, hers);
        else
            execute format('create policy hers on %1$I for select using (can_see(collection_node_id)'
                           ' and exists (select from listening_session s where s.id = session_id))', made);
        end if;
    end loop;
end $$;

select grant_api_again();
