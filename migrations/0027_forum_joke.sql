-- Administrators read the jokes of a thread too, between its other comments. Jokes are few, so writing others costs no more.
create index forum_joke_of_thread on forum_comment (thread_id, create_time desc, id desc) where kind = 'JOKE';
