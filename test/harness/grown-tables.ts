// Fills a database with the rows of a service that has worked for long.

import pg from "pg";
import { fillOfProtocols } from "./grown-protocols.ts";

/** What to add. */
export interface Growth {
  readonly client: string;
  /** Each has one run, which has ended. */
  readonly sessions: number;
  readonly resultsPerRun: number;
  /** The number in the names of the first row; 1 when unset. A second growth begins after the first. */
  readonly first?: number;
}

/**
 * Adds sessions of a client, with their runs, logs, what runs leave, and the rows of protocols. All are older than an hour, but what the
 * service would delete by then. One run in twenty has failed.
 */
export async function growTables(connection: pg.Client, growth: Growth): Promise<void> {
  await connection.query(fillOf(growth));
}

function fillOf({ client, sessions, resultsPerRun, first = 1 }: Growth): string {
  const owner = pg.escapeLiteral(client);
  return `
  -- Without triggers: foreign keys would read each row that another one refers to.
  set session_replication_role = replica;
  create temporary table made as
    select number, ${owner} as client, ${idOf("time")} as session, ${idOf("time")} as run, time
    from generate_series(${first}, ${first + sessions - 1}) as number
    cross join lateral (select now() - interval '1 hour' - number * interval '1 millisecond' as time) as given;
  insert into session (id, client, name, agent, latest_run_id, create_time)
    select session, client, session::text, '\\x0a0161', run, time from made;
  insert into run (id, client, session, driver, input, status, epoch, turn, deadline, create_time, start_time, end_time,
    last_sequence, terminal, model, agent_name, prompt_tokens, failure)
    select run, client, session, 'llm-loop', '', case when number % 20 = 0 then 'failed' else 'completed' end, 1, 1, time, time, time,
      time, ${resultsPerRun}, '', 'demo', 'a', 7, case when number % 20 = 0 then 'model.timeout' || chr(10) || 'no answer' end from made;
  insert into run_result (run_id, sequence, epoch, payload)
    select run, sequence, 1, '\\x00' from made cross join generate_series(1, ${resultsPerRun}) as sequence;
  insert into transcript (session, position, run_id, message)
    select session, position, run, '\\x00' from made cross join generate_series(0, 1) as position;
  insert into run_text (run_id, client, session, text, words, is_final)
    select run, client, session, 'grown ' || number, to_tsvector('simple', 'grown ' || number) || array_to_tsvector(array['client ' || md5(client)]), true from made;
  insert into run_text_cursor (run_id) select run from made order by run desc limit 1
    on conflict (is_only) do update set run_id = excluded.run_id;
  insert into model_call (id, run_id, turn, provider, model, create_time, duration_ms, path, request_headers, request, request_bytes,
    is_request_cut, status, answer_headers, answer, answer_bytes, is_answer_cut, error)
    select run, run, 1, 'openai', 'gpt', time, 1, '/', '', '{}', 2, false, 200, '', '', 0, false, '' from made;
  insert into checkpoint (run_id, turn, sequence, state) select run, 1, 1, '' from made;
  insert into tool_call (run_id, turn, position, call, outcome, log_sequence) select run, 1, 0, '', '', 1 from made;
  insert into callback (client, session, run_id, sequence, status, base_url, state, end_time, create_time)
    select client, session, run, 1, 'completed', 'https://host.example', 'delivered', time, time from made;
  insert into idempotency (client, method, request_id, request_hash, response)
    select client, 'SendMessage', run::text, '', '' from made;
  -- From a time to come: the service deletes them after minutes.
  insert into nonce (scope, nonce, create_time) select client, run::text, now() + interval '1 hour' from made;
  insert into stream_ticket (hash, client, run, create_time) select uuid_send(run), client, run, now() + interval '1 hour' from made;
  insert into api_key (id, client, display_name, hash) select run, client, '', uuid_send(run) from made;
  insert into approval (id, client, run_id, action, request, digest, expire_time)
    select run, client, run, '', '{}', '', time from made;
  insert into schedule (id, client, name, spec, next_time)
    select run, client || number, run::text, '', now() + interval '1 year' from made;
  insert into work_dir_claim (path, client) select '/work/' || run, client from made;
  insert into state_value (owner, key, client, value, session) select uuid_send(session), 'k', client, '"grown"', session from made;
  insert into client_usage (client, day, tokens) select client || number, current_date, 7 from made;
  insert into push_config (run_id, session, id, url, token, scheme, credentials)
    select run, session, 'p', 'https://host.example', '', '', '' from made;
  insert into usage_sum (client, seconds, start_time, agent_name, model, completed, failed, cancelled, prompt_tokens, completion_tokens,
    cost_micro_usd, durations, first_texts)
    -- Of five agents for as long as the service keeps them, however many runs there are.
    select ${owner}, seconds, date_bin(make_interval(secs => seconds), now(), 'epoch') - age * make_interval(secs => seconds),
      'agent ' || agent, 'demo', 1, 0, 0, 7, 0, 0, array_fill(0, array[20 + agent]) || 1 || array_fill(0, array[75 - agent]),
      array_fill(0, array[10]) || 1 || array_fill(0, array[85])
    from (values (60, 1440), (300, 864), (3600, 336), (86400, 92)) as period (seconds, kept)
      cross join generate_series(0, kept - 1) as age cross join generate_series(1, 5) as agent
    on conflict do nothing;
  ${fillOfProtocols}
  drop table made;
  set session_replication_role = origin;`;
}

/** An id whose time is that of a column, as a uuidv7 has it. */
function idOf(column: string): string {
  const time = `substring(int8send((extract(epoch from ${column}) * 1000)::int8) from 3)`;
  return `encode(overlay(uuid_send(gen_random_uuid()) placing ${time} from 1 for 6), 'hex')::uuid`;
}
