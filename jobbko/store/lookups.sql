-- What services were asked, what they answered, and who is asking now.

-- name: answered
select status from provider_lookup
 where collection_node_id = %(collection)s and entity_type = %(entity_type)s and entity_id = %(entity_id)s
   and provider = %(provider)s and asked = %(asked)s and status <> 'asking' and next_check_at > now()

-- name: begin
-- Taken by one who asks; by himself again, if he was killed; by another when the time is up, or for another question.
insert into provider_lookup
      (entity_type, entity_id, provider, asked, collection_node_id, status, asked_by, next_check_at)
values (%(entity_type)s, %(entity_id)s, %(provider)s, %(asked)s, %(collection)s, 'asking', %(asked_by)s,
        now() + interval '10 minutes')
on conflict (collection_node_id, entity_type, entity_id, provider) do update
   set asked = excluded.asked, status = 'asking', asked_by = excluded.asked_by, next_check_at = excluded.next_check_at,
       miss_count = case when provider_lookup.asked = excluded.asked then provider_lookup.miss_count else 0 end
 where provider_lookup.next_check_at <= now() or provider_lookup.asked <> excluded.asked
    or (provider_lookup.status = 'asking' and provider_lookup.asked_by = excluded.asked_by)
    or provider_lookup.status = 'ok'
returning true

-- name: give_up
update provider_lookup set next_check_at = now()
 where collection_node_id = %(collection)s and entity_type = %(entity_type)s and entity_id = %(entity_id)s
   and provider = %(provider)s and status = 'asking'

-- name: answer
-- A second miss waits twice as long, up to a year; a little chance keeps a library from asking all at once.
insert into provider_lookup
      (entity_type, entity_id, provider, asked, collection_node_id, status, miss_count, next_check_at)
values (%(entity_type)s, %(entity_id)s, %(provider)s, %(asked)s, %(collection)s, %(status)s,
        case when %(status)s::text = 'not_found' then 1 else 0 end,
        now() + %(ttl)s::real * interval '1 second' * (1 + random() / 10))
on conflict (collection_node_id, entity_type, entity_id, provider) do update
   set asked = excluded.asked, status = excluded.status, checked_at = now(),
       miss_count = case when excluded.status = 'ok' then 0
                         when provider_lookup.asked <> excluded.asked then 1
                         else provider_lookup.miss_count + 1 end,
       next_check_at = now() + least(
           %(ttl)s::real * case when excluded.status = 'not_found' and provider_lookup.asked = excluded.asked
                                then 2 ^ least(provider_lookup.miss_count, 8) else 1 end,
           31536000) * interval '1 second' * (1 + random() / 10)
