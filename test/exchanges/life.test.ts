// The life of an exchange, from its start to the deletion of its contents: the maximum number of open exchanges, ids, import
// and purge.

import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { Exchange_State, type ExchangeSession, ExchangeSessionSchema } from "#gen/runnel/exchange/v1/exchange_pb.js";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { retention } from "../../src/app/protocols.ts";
import { eraseContents, eraseSessions, listErasableSessions } from "../../src/engine/storage/erase.ts";
import { holdBefore } from "../fault/gate.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { connect } from "../runlog/store.ts";
import { type ExchangeStage, getOutbox, openStage, refusalOf, startExchange, submit, summariesOf } from "./stage.ts";

const { importExchange, exportExchange, getExchange, listExchanges } = ExchangeService.method;

const done = "[DONE]\nall is well\n[/DONE]\n";

test("a repeated start returns the same exchange, also when concurrent, and refuses another task", async () => {
  const stage = await openStage();
  const starts = await Promise.all(Array.from({ length: 4 }, () => startExchange(stage, { requestId: "once" })));
  expect(new Set(starts.map(({ exchangeId, runId }) => `${exchangeId} ${runId}`)).size).toBe(1);
  expect(await refusalOf(startExchange(stage, { requestId: "once", task: "another" }))).toBe("REQUEST_ID_REUSED");
  expect((await stage.client.call(listExchanges, {})).exchanges).toHaveLength(1);
});

test("a client cannot exceed its maximum of open exchanges, even with concurrent starts", async () => {
  const stage = await openStage({ exchangesMaxOpen: 3, databasePoolSize: 8 });
  const starts = await Promise.allSettled(Array.from({ length: 10 }, () => startExchange(stage)));
  const [first, ...others] = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  if (first === undefined) {
    throw new Error("none was started");
  }
  expect(others).toHaveLength(2);
  expect(await refusalOf(startExchange(stage))).toBe("CONCURRENCY_EXHAUSTED");
  await getOutbox(stage.client, first);
  await submit(stage.client, first, done);
  expect(await startExchange(stage)).toMatchObject({ exchangeId: expect.stringMatching(/^[0-9a-f]{8}$/) });
});

test("a waiting exchange takes no concurrency slot, a working one takes one", async () => {
  const stage = await openStage({ sessionsMaxConcurrent: 1 });
  for (let count = 0; count < 3; count++) {
    await getOutbox(stage.client, await startExchange(stage));
  }
  const gate = await holdBefore(stage.service.databaseUrl, "update of outbox on exchange");
  const atWork = await startExchange(stage);
  await gate.reached();
  expect(await refusalOf(startExchange(stage))).toBe("CONCURRENCY_EXHAUSTED");
  await gate.open();
  await getOutbox(stage.client, atWork);
  // A text is accepted even without a free slot: its exchange was admitted at its start.
  expect(await submit(stage.client, atWork, done)).toMatchObject({ isComplete: true });
});

test("a new exchange never gets an id that is taken", async () => {
  const stage = await openStage();
  // Ids are random, so a trigger skips four inserts, as a taken id does.
  await query(
    stage.service.databaseUrl,
    `create sequence taken;
    create function take() returns trigger language plpgsql as $$ begin
      if nextval('taken') % 5 <> 0 then return null; end if;
      return new; end $$;
    create trigger take before insert on session for each row execute function take()`,
  );
  const { exchangeId } = await startExchange(stage);
  expect(await query(stage.service.databaseUrl, "select name from session")).toEqual([{ name: exchangeId }]);
});

function makeSession(): ExchangeSession {
  return create(ExchangeSessionSchema, {
    sessionId: "a1b2c3d4",
    task: "go on",
    sequenceNumber: 7,
    lastResults: [{ commandType: "MESSAGE", summary: "so far", success: true, output: "" }],
    readFileRequests: ["notes.txt"],
  });
}

async function importInto({ client, area }: ExchangeStage, session: ExchangeSession) {
  return await client.call(importExchange, { session, workDir: area.root });
}

test("an imported exchange continues where it stopped, only once, and an exported one can be imported again", async () => {
  const stage = await openStage();
  stage.area.write("notes.txt", "old notes\n");
  const session = makeSession();
  const exchange = await importInto(stage, session);
  expect(exchange).toMatchObject({ exchangeId: "a1b2c3d4", sequence: 7 });
  const { text, sequence } = await getOutbox(stage.client, exchange);
  expect(sequence).toBe(7);
  expect(text).toContain("[OK] MESSAGE: so far\n");
  expect(text).toContain("--- notes.txt ---\nold notes\n--- end notes.txt ---\n");
  expect(await refusalOf(importInto(stage, session))).toBe("EXCHANGE_EXISTS");
  const { exchangeId } = exchange;
  const exported = (await stage.client.call(exportExchange, { exchangeId })).session ?? expect.unreachable();
  expect(exported).toMatchObject({ sequenceNumber: 7, lastResults: session.lastResults, isComplete: false });

  expect(await submit(stage.client, exchange, done, 7)).toMatchObject({ sequence: 7, isComplete: true });
  const complete = (await stage.client.call(exportExchange, { exchangeId })).session ?? expect.unreachable();
  await stage.client.call(SessionService.method.deleteSession, { sessionId: exchangeId });
  await importInto(stage, complete);
  await until("it to be complete", async () => {
    const shown = await stage.client.call(getExchange, { exchangeId });
    return shown.exchange?.state === Exchange_State.COMPLETED && shown.exchange.isComplete;
  });
  expect(await refusalOf(submit(stage.client, exchange, done))).toBe("EXCHANGE_ENDED");
  await expectInvariants(stage.service.databaseUrl);
});

const secret = "a secret that must go";

/** An ended exchange whose task and answers hold the secret. */
async function endExchange(stage: ExchangeStage): Promise<string> {
  const exchange = await startExchange(stage, { task: secret });
  await getOutbox(stage.client, exchange);
  const answer = await submit(stage.client, exchange, `[MESSAGE]\n${secret}\n[/MESSAGE]\n`);
  expect(summariesOf(answer)).toEqual([secret]);
  await submit(stage.client, exchange, `[CREATE_FILE path="a"]\n${secret}\n[/CREATE_FILE]\n${done}`, 2);
  return exchange.exchangeId;
}

/** The tables that hold the secret, as text or as bytes. */
async function findSecrets(url: string): Promise<string[]> {
  const tables = await query<{ name: string }>(
    url,
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const hex = Buffer.from(secret).toString("hex");
    const rows = await query(url, `select from "${name}" as each where each::text like $1 or each::text like $2`, [
      `%${secret}%`,
      `%${hex}%`,
    ]);
    found.push(...rows.map(() => name));
  }
  return found;
}

test("a purge deletes the task, the outboxes, the answers and the results", async () => {
  const stage = await openStage();
  const sessionId = await endExchange(stage);
  const { databaseUrl } = stage.service;
  expect(await findSecrets(databaseUrl)).toEqual(
    expect.arrayContaining(["exchange", "exchange_inbox", "exchange_command", "run", "run_result"]),
  );
  await stage.client.call(SessionService.method.purgeSession, { sessionId });
  expect(await findSecrets(databaseUrl)).toEqual([]);
  expect(await refusalOf(getOutbox(stage.client, { exchangeId: sessionId }))).toBe("EXCHANGE_NOT_FOUND");
});

test("the contents of an exchange are deleted with its session after the retention", async () => {
  const stage = await openStage();
  const { databaseUrl } = stage.service;
  const kept = await startExchange(stage);
  await getOutbox(stage.client, kept);
  const sessionId = await endExchange(stage);
  await stage.client.call(SessionService.method.deleteSession, { sessionId });
  const { db } = connect(databaseUrl);
  await query(databaseUrl, "update session set delete_time = now() - interval '8 days' where delete_time is not null");
  await query(databaseUrl, "update run set end_time = now() - interval '8 days' where end_time is not null");
  const sessions = await listErasableSessions(db, { keptMs: 7 * 24 * 3_600_000, limit: 10 });
  expect(sessions).toHaveLength(1);
  const ids = sessions.map(({ id }) => id);
  expect(await eraseContents(db, ids, retention)).toBe(1);
  await eraseSessions(db, ids);
  const [rows] = await query<Record<string, number>>(
    databaseUrl,
    `select (select count(*)::int from exchange) as exchanges, (select count(*)::int from exchange_inbox) as inboxes,
      (select count(*)::int from exchange_command) as commands, (select count(*)::int from session) as sessions`,
  );
  expect(rows).toEqual({ exchanges: 1, inboxes: 0, commands: 0, sessions: 1 });
  expect(await submit(stage.client, kept, done)).toMatchObject({ isComplete: true });
});
