-- Which client has named which directory for a session: no other client may name it, a directory in it, or one around it. The
-- rows outlive the sessions.
create table work_dir_claim (
  -- Absolute and without links. In the order of bytes, so that what a directory contains is one range.
  path text collate "C" primary key,
  client text not null,
  create_time timestamptz not null default now()
);

-- The directories of the sessions that exist, as their clients named them: the client of the earliest session gets each.
do $$
declare
  named record;
  place text;
begin
  for named in
    select client, work_dir, min(create_time) as create_time from session
    where work_dir is not null group by client, work_dir order by min(create_time), work_dir
  loop
    -- Drops empty names, `.` and `..`.
    place := regexp_replace(named.work_dir || '/', '(/\.?)+(?=/)', '', 'g');
    while place ~ '/\.\./' loop
      place := regexp_replace(place, '(^|/[^/]+)/\.\./', '/');
    end loop;
    place := rtrim(place, '/');
    insert into work_dir_claim (path, client, create_time)
    select place, named.client, named.create_time
    where place <> '' and octet_length(place) <= 2000 and not exists (
      select from work_dir_claim where client <> named.client and (
        path >= place || '/' and path < place || '0'
        or path = any(array(
          select left(place, chars) from generate_series(1, length(place)) as chars
          where chars = length(place) or substr(place, chars + 1, 1) = '/'))))
    on conflict do nothing;
  end loop;
end
$$;
