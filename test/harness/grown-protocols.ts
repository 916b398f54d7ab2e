// The rows that protocols keep beside the sessions and runs of a service that has worked for long.

/** Adds rows for each row of the table `made`. Of what people register, and of conversations, there is one for five or twenty runs. */
export const fillOfProtocols = `
  insert into job (id, client, document, client_job_id, jobspec_id, version, benchmark, signature_version, public_key, key_id,
    canonical_sha256, canonical_len, total_regions, min_regions, min_success_rate, successes_min)
    select run, client, '', '', '', '', '', 1, '', '', '', 0, 1, 1, 1, 1 from made;
  insert into session (id, client, name, agent, create_time, job, region, hidden)
    select gen_random_uuid(), client, 'region ' || run, '\\x0a0161', time, run, 'eu', true from made;
  insert into job_nonce (public_key, nonce) select '\\x00', run::text from made;
  insert into trusted_key (kid, public_key) select run::text, uuid_send(run) from made where number % 20 = 0;
  insert into trust_event (id, type, actor) select run, 'key.created', 'admin' from made;
  insert into exchange (session, client, id, run_id, task, sequence, outbox, is_complete)
    select session, client, run::text, run, '', 1, '', true from made;

  insert into runner (client, runner_id, worker_id, era, manifest) select client, 'a/b/' || number, 'w', '', '' from made where number % 20 = 0;
  insert into worker_session (id, client, worker_id, runner_ids)
    select run, client, 'w' || number, array['a/b/' || number] from made where number % 20 = 0;
  insert into binding (client, binding_id, scope_kind, scope_id, body)
    select client, run::text, 'conversation', run::text, '' from made where number % 20 = 0;
  insert into agent_profile (client, agent_id, body) select client, run::text, '' from made where number % 20 = 0;
  insert into config_file (client, file_key, content) select client, run::text, '' from made where number % 20 = 0;
  -- No worker has taken one run in a hundred.
  insert into remote_run (run_id, client, runner_id, binding_id, era, scope, granted, context, attempt)
    select run, client, 'a/b/c', '', '', '{}', '{}', '', case when number % 100 = 0 then 0 else 1 end from made;
  insert into result_verdict (run_id, position, sequence, type, disposition, diagnostics) select run, 1, 1, '', '', '{}' from made;
  insert into audit_entry (id, client, run_id, runner_id, action, resource, scope, result, reason, create_time)
    select run, client, run, 'a/b/c', '', '', '', '', '', time from made;
  insert into conversation (scope, client, last_item) select uuid_send(run), client, 0 from made where number % 20 = 0;
  insert into agent_event (run_id, client, event_id, event_type, record, create_time) select run, client, run::text, '', '', time from made;
  insert into artifact (client, artifact_id, run_id, runner_id, artifact_type, metadata, is_complete, content, expire_time)
    select client, run::text, run, 'a/b/c', '', '{}', true, '', now() + interval '1 year' from made;
  insert into storage_value (owner, key, client, version, size_bytes) select uuid_send(run), 'k', client, run, 1 from made;
  insert into storage_piece (owner, key, version, run_id, start_byte, content, create_time)
    select uuid_send(run), 'k', run, run, 0, '\\x00', 'infinity' from made;
  insert into knowledge_base (client, kb_id, name) select client, 'kb ' || number, '' from made where number % 20 = 0;
  insert into knowledge_entry (client, kb_id, entry_id, content, metadata)
    select client, 'kb 20', run::text, 'grown ' || number, '{}' from made where number % 10 = 0;

  insert into community (id, slug, name) values ('c', 'c', 'c') on conflict do nothing;
  insert into forum_agent (id, handle, community_id) select run::text, run::text, 'c' from made where number % 20 = 0;
  insert into agent_nonce (nonce, agent_id, expire_time) select run::text, 'a', now() + interval '1 hour' from made where number % 20 = 0;
  insert into forum_thread (id, community_id, title, body, type, create_time, comment_count)
    select run::text, 'c', '', '', 'DISCUSSION', time, 5 from made where number % 5 = 0;
  insert into forum_comment (id, thread_id, community_id, owner_wallet, body, kind, create_time)
    select run::text, first_value(run) over (partition by number / 5 order by number)::text, 'c', '', '', 'DISCUSSION', time from made;
  update community set comment_count = comment_count + (select count(*) from made) where id = 'c';
  insert into communication (id, agent_id, create_time, direction, action_types, instance_id, port, pid, content)
    select run, 'a', time, 'in', '{}', '', '', 1, '' from made;
  insert into decision_cycle (run_id, agent_id, cycle) select run, 'a', 1 from made;`;
