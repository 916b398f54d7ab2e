// A purge of long logs: in pages, for any length, and no copy stays in memory.

import { create, toBinary } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { retention } from "../../src/app/protocols.ts";
import { Broadcaster } from "../../src/engine/log/broadcaster.ts";
import { decodeResult, LogEntry } from "../../src/engine/log/result.ts";
import { purgeSession } from "../../src/engine/sessions/purge.ts";
import { findRun } from "../../src/engine/storage/run.ts";
import { insertResults } from "../../src/engine/storage/run-result.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { addRun, connect, LocalWakeup, openStore } from "../runlog/store.ts";

const client = "shared/test";

/** An ended run with a log of this length. The session's name is its id. */
async function addLog(db: Db, count: number): Promise<{ name: string; runId: string }> {
  const { id: runId, session: name } = await addRun(db);
  const rows = Array.from({ length: count }, (_, index) => {
    const payload = toBinary(
      RunResultSchema,
      create(RunResultSchema, {
        runId,
        sequence: BigInt(index + 1),
        payload: { case: "reasoningDelta", value: { content: `said ${index}` } },
      }),
    );
    return { runId, sequence: index + 1, epoch: 1, payload };
  });
  await db.transaction().execute((trx) => insertResults(trx, rows));
  await sql`
    update run set status = 'failed', end_time = now(), last_sequence = ${count}, agent_name = 'a', failure = 'said'
    where id = ${runId}`.execute(db);
  return { name, runId };
}

test("no transaction rewrites more than a page", async () => {
  const { db, url } = await openStore();
  const { name, runId } = await addLog(db, 1_203);
  await sql`create table seen (page bigint, rows bigint)`.execute(db);
  await sql`create function see() returns trigger language plpgsql as $$
    begin insert into seen select txid_current(), count(*) from changed; return null; end $$`.execute(db);
  await sql`create trigger see after update on run_result referencing new table as changed
    for each statement execute function see()`.execute(db);
  const purged = await purgeSession(
    { db: connect(url).db, broadcaster: new Broadcaster(), wakeup: new LocalWakeup(), retention },
    { client, name },
  );
  expect(purged).toEqual({ runs: 1, results: 1_203 });
  const { rows: pages } = await sql<{ rows: number }>`select sum(rows)::int8 as rows from seen group by page
    order by min(page)`.execute(db);
  expect(pages.map(({ rows }) => rows)).toEqual([500, 500, 203]);
  const results = await db.selectFrom("run_result").select(["sequence", "payload"]).orderBy("sequence").execute();
  expect(results.map(({ payload }) => Number(decodeResult(payload).sequence))).toEqual(
    results.map(({ sequence }) => sequence),
  );
  expect(results.filter(({ payload }) => decodeResult(payload).purgedSha256.length !== 64)).toEqual([]);
  expect((await findRun(db, runId))?.input).toHaveLength(0);
  const row = await db.selectFrom("run").select(["agent_name", "failure"]).executeTakeFirst();
  expect(row).toEqual({ agent_name: null, failure: null });
});

// The wake-up to the other replicas is lost; the replica that purged has still forgotten the run.
test("the replica that purges forgets the run at once, and notifies the others", async () => {
  const { db } = await openStore();
  const { name, runId } = await addLog(db, 3);
  const broadcaster = new Broadcaster();
  using subscription = broadcaster.subscribe(runId);
  broadcaster.publish(runId, [new LogEntry({ sequence: 1, terminal: false }, new Uint8Array())]);
  const wakeup = new LocalWakeup();
  wakeup.losing = true;
  await purgeSession({ db, broadcaster, wakeup, retention }, { client, name });
  expect(subscription.live(0)).toBeUndefined();
  expect(wakeup.published).toEqual([
    { topic: "session", key: name, value: 0 },
    { topic: "result", key: runId, value: 0 },
  ]);
});

test("sessions that were never started are purged too, even more than a page of them", async () => {
  const { db } = await openStore();
  const deps = { db, broadcaster: new Broadcaster(), wakeup: new LocalWakeup(), retention };
  await sql`insert into session (id, client, name, agent, delete_time)
    select gen_random_uuid(), ${client}, 'same', 'agent', now() from generate_series(1, 250)`.execute(db);
  expect(await purgeSession(deps, { client, name: "same" })).toEqual({ runs: 0, results: 0 });
  const { rows } = await sql`select from session where octet_length(agent) > 0`.execute(db);
  expect(rows).toEqual([]);
});
