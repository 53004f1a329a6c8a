-- The ledger of model calls. The rules are in migrations/0014_ai.sql.

-- name: limits
select case when jsonb_typeof(metadata -> 'budget_day_usd') = 'number' then (metadata ->> 'budget_day_usd')::numeric end
  from nodes
 where id = %(collection)s

-- name: wanted
select coalesce(metadata ->> 'ai_gateway', '') as gateway, coalesce(metadata ->> 'ai_model', '') as model
  from nodes
 where id = %(collection)s

-- name: reserve
select model_run_reserve(%(run)s::jsonb, %(all_limit)s::numeric, %(collection_limit)s::numeric)

-- name: settle
update model_run
   set state = %(state)s, class = %(class_)s, message = %(message)s, response = %(response)s::jsonb,
       http_status = %(http_status)s, provider_request_id = %(provider_request_id)s, model_served = %(model_served)s,
       finish_reason = %(finish_reason)s, input_tokens = %(input_tokens)s, cache_read_tokens = %(cache_read_tokens)s,
       cache_write_tokens = %(cache_write_tokens)s, output_tokens = %(output_tokens)s, cost_usd = %(cost_usd)s,
       cost_source = %(cost_source)s, finished_at = clock_timestamp(),
       latency_ms = extract(epoch from clock_timestamp() - started_at) * 1000
 where id = %(id)s

-- name: refuse
-- The answer came and was paid for, but it is not what was asked for.
update model_run set state = 'failed', class = %(class_)s, message = %(message)s where id = %(id)s

-- name: lose
-- Nobody will say any more what they cost: whoever made them is gone, or has long given up waiting.
update model_run r
   set state = 'unknown', cost_source = 'estimate', finished_at = clock_timestamp()
 where r.state = 'reserved'
   and (r.started_at < clock_timestamp() - make_interval(secs => %(longest)s)
        or r.job_id is not null and r.started_at < clock_timestamp() - make_interval(secs => %(lease)s)
           and not exists (select from job_queue j
                            where j.id = r.job_id and j.state = 'consumed' and j.started_at <= r.started_at))

-- name: spent
select scope, reserved_usd::float8 as reserved, spent_usd::float8 as spent
  from budget_day
 where day = (clock_timestamp() at time zone 'utc')::date
 order by scope

-- name: spending
select day, job_type, model, count(*) as calls, count(*) filter (where state = 'failed') as failed,
       coalesce(sum(input_tokens), 0)::bigint as input_tokens,
       coalesce(sum(cache_read_tokens + cache_write_tokens), 0)::bigint as cache_tokens,
       coalesce(sum(output_tokens), 0)::bigint as output_tokens,
       coalesce(sum(cost_usd), 0)::float8 as cost_usd,
       coalesce(sum(reserved_usd) filter (where cost_usd is null), 0)::float8 as estimated_usd
  from model_run
 where day > (clock_timestamp() at time zone 'utc')::date - %(days)s::integer
   and class is distinct from 'gate'  -- it was closed, and nobody was asked
 group by day, job_type, model
 order by day desc, cost_usd desc, job_type, model

-- name: forget_bodies
update model_run set request = null, response = null
 where id in (select id from model_run
               where finished_at < clock_timestamp() - make_interval(secs => %(age)s)
                 and (request is not null or response is not null)
               order by finished_at limit 500 for update skip locked)
