-- Cover pictures that are kept, and whose they are.

-- name: add_artwork
with added as (
    insert into artwork (collection_node_id, sha256, mime, width, height, bytes, store_path)
    values (%(collection)s, %(sha256)s, %(mime)s, %(width)s, %(height)s, %(size)s, %(store_path)s)
    on conflict (collection_node_id, sha256) do update set store_path = excluded.store_path
    returning id
)
select id from added

-- name: link_track
insert into artwork_link (track_id, artwork_id, collection_node_id, source, source_url)
values (%(track_id)s, %(artwork_id)s, %(collection)s, %(source)s, %(source_url)s)
on conflict (track_id, album_id, disc_no, kind) do update
   set artwork_id = excluded.artwork_id, source = excluded.source, source_url = excluded.source_url
 where artwork_link.source <> 'user'

-- name: link_album
-- disc_no null: the whole album. What its owner chose stays; what lies in its folder comes before what was downloaded.
insert into artwork_link (album_id, disc_no, artwork_id, collection_node_id, source, source_url)
values (%(album_id)s, %(disc_no)s, %(artwork_id)s, %(collection)s, %(source)s, %(source_url)s)
on conflict (track_id, album_id, disc_no, kind) do update
   set artwork_id = excluded.artwork_id, source = excluded.source, source_url = excluded.source_url
 where artwork_link.source <> 'user' and excluded.source = 'folder'

-- name: link_album_by_its_tracks
-- The picture that most of its tracks hold, of equals that of the first track: one odd track does not dress the album,
-- and its tracks do not take turns.
with held as (
    select l.artwork_id
      from artwork_link l join tracks t on t.id = l.track_id
     where t.album_id = %(album_id)s and l.source = 'embedded' and l.kind = 'front'
     group by l.artwork_id
     order by count(*) desc, min(coalesce(t.disc_no, 1) * 10000 + coalesce(t.track_no, 9999)), l.artwork_id
     limit 1
)
insert into artwork_link (album_id, artwork_id, collection_node_id, source)
select %(album_id)s, artwork_id, %(collection)s, 'embedded' from held
on conflict (track_id, album_id, disc_no, kind) do update
   set artwork_id = excluded.artwork_id, source = excluded.source, source_url = ''
 where artwork_link.source not in ('user', 'folder') and artwork_link.artwork_id <> excluded.artwork_id

-- name: artwork
select id, sha256, mime, width, height, bytes, store_path
  from artwork
 where id = %(artwork_id)s

-- name: track_artwork
select a.id, a.sha256, a.mime, a.width, a.height, a.bytes, a.store_path
  from artwork_link l
  join artwork a on a.id = l.artwork_id
 where l.track_id = %(track_id)s and l.kind = 'front'
