// Statements that concurrent callers share.

import { sql } from "kysely";
import { expect, test } from "vitest";
import { lockRun } from "../../src/engine/storage/run.ts";
import { completeOwnRun } from "../../src/engine/storage/run-end.ts";
import { insertRun } from "../../src/engine/storage/run-start.ts";
import { insertSession } from "../../src/engine/storage/session.ts";
import { useNonce } from "../../src/platform/auth/storage/nonce.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { gathered } from "../../src/platform/database/gather.ts";
import { addReplica, addRun, addSession, connect, input, nothingSpent, openStore } from "../runlog/store.ts";

const client = "shared/test";

/** Doubles numbers in the database, and records the numbers of each statement. Postgres refuses 0. */
function createDouble() {
  const statements: (readonly number[])[] = [];
  const double = gathered(async (db, items: readonly number[]): Promise<number[]> => {
    statements.push(items);
    const { rows } = await sql<{ doubled: number }>`
      select (2 * item / least(item, 1))::int4 as doubled
      from unnest(array[${sql.join(items)}]::int4[]) with ordinality as asked (item, place) order by place`.execute(db);
    return rows.map(({ doubled }) => doubled);
  });
  return { double, statements };
}

test("calls of one turn of the event loop share a statement, and those that arrive meanwhile share the next", async () => {
  const { db } = await openStore();
  const { double, statements } = createDouble();
  const first = [1, 2].map((item) => double(db, item));
  await new Promise((resolve) => setImmediate(resolve));
  const second = [3, 4].map((item) => double(db, item));
  expect(await Promise.all([...first, ...second])).toEqual([2, 4, 6, 8]);
  expect(statements).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test("a call that Postgres refuses fails alone (G2)", async () => {
  const { db } = await openStore();
  const { double, statements } = createDouble();
  const outcomes = await Promise.allSettled([1, 0, 3].map((item) => double(db, item)));
  expect(outcomes).toMatchObject([
    { status: "fulfilled", value: 2 },
    { status: "rejected", reason: { message: "division by zero" } },
    { status: "fulfilled", value: 6 },
  ]);
  expect(statements).toEqual([[1, 0, 3], [1], [0], [3]]);
});

test("a call that loses against another transaction fails alone (G2)", async () => {
  const store = await openStore();
  const [free, held] = [await addRun(store.db), await addRun(store.db)];
  const take = gathered(async (db, ids: readonly string[]): Promise<string[]> => {
    const { rows } = await sql<{ id: string }>`
      select id from run where id = any(array[${sql.join(ids)}]::uuid[]) order by id for update nowait`.execute(db);
    return rows.map(({ id }) => id);
  });
  const outcomes = await connect(store.url)
    .db.transaction()
    .execute(async (trx) => {
      await lockRun(trx, held.id);
      return await Promise.allSettled([take(store.db, free.id), take(store.db, held.id)]);
    });
  expect(outcomes).toMatchObject([
    { status: "fulfilled", value: free.id },
    { status: "rejected", reason: { code: "55P03" } },
  ]);
});

test("an outage fails every call of its statement, which is not repeated (G3)", async () => {
  const { db } = await openStore();
  const statements: (readonly number[])[] = [];
  const kill = gathered(async (on, items: readonly number[]): Promise<number[]> => {
    statements.push(items);
    await sql`select pg_terminate_backend(pg_backend_pid())`.execute(on);
    return [...items];
  });
  const outcomes = await Promise.allSettled([1, 2].map((item) => kill(db, item)));
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(statements).toEqual([[1, 2]]);
});

test("a call in a transaction has a statement of its own and sees its transaction", async () => {
  const { db } = await openStore();
  const session = {
    id: newUuid(0),
    client,
    name: "inside",
    agent: new Uint8Array(),
    workDir: undefined,
    callback: undefined,
  };
  const undone = db.transaction().execute(async (trx) => {
    expect(await insertSession(trx, session)).toBe(true);
    expect(await insertSession(trx, { ...session, id: newUuid(0) })).toBe(false);
    throw new Error("undo");
  });
  await expect(undone).rejects.toThrow("undo");
  expect(await insertSession(db, session)).toBe(true);
});

test("a nonce that many concurrent requests use is new once, on two replicas too", async () => {
  const { url, db } = await openStore();
  const other = connect(url).db;
  const uses = [db, other, db, other].flatMap((on) =>
    Array.from({ length: 20 }, (_, index) => useNonce(on, { scope: "shared", nonce: `nonce-${index % 10}` })),
  );
  expect((await Promise.all(uses)).filter(Boolean)).toHaveLength(10);
  expect(await useNonce(db, { scope: "other", nonce: "nonce-1" })).toBe(true);
});

test("of sessions with one name that arrive together one is inserted", async () => {
  const { db } = await openStore();
  const inserts = ["a", "b", "a", "c", "b"].map((name) =>
    insertSession(db, {
      id: newUuid(0),
      client,
      name,
      agent: new Uint8Array(),
      workDir: undefined,
      callback: undefined,
    }),
  );
  expect(await Promise.all(inserts)).toEqual([true, true, false, true, false]);
});

test("of messages to one session that arrive together one starts a run", async () => {
  const { db } = await openStore();
  const owner = await addReplica(db);
  const [one, two] = [await addSession(db), await addSession(db)];
  const [first, other, second] = await Promise.all([one, two, one].map((session) => start(db, { session, owner })));
  expect(other?.session).toBe(two);
  // Two connections may write them, and either can be the faster one.
  const started = [first, second].filter((run) => run !== undefined);
  expect(started).toEqual([expect.objectContaining({ status: "running", owner, session: one, session_name: one })]);
  expect(started[0]?.transcript_length).toBe(1);
});

test("a session that another transaction holds does not delay the messages of others", async () => {
  const { url, db } = await openStore();
  const [held, free] = [await addSession(db), await addSession(db)];
  await connect(url)
    .db.transaction()
    .execute(async (trx) => {
      await sql`select from session where id = ${held} for update`.execute(trx);
      const [late, soon] = await Promise.all([held, free].map((session) => start(db, { session })));
      expect([late, soon?.session]).toEqual([undefined, free]);
    });
  expect(await start(db, { session: held })).toMatchObject({ session: held, status: "queued" });
});

test("ends that arrive together are written for the runs that still belong to the replica", async () => {
  const { db } = await openStore();
  const replicaId = await addReplica(db);
  const runs = [await addRun(db, { owner: replicaId }), await addRun(db, { owner: replicaId }), await addRun(db)];
  const payload = Buffer.from("terminal");
  const ends = runs.map(({ id, epoch }, index) =>
    completeOwnRun(db, {
      id,
      replicaId,
      epoch: index === 1 ? epoch + 1 : epoch,
      turn: 1,
      isCalledBack: false,
      results: [{ runId: id, sequence: 1, epoch, payload }],
      logHash: Buffer.alloc(32),
      spent: nothingSpent,
      transcript: { position: 1, messages: [Buffer.from(`message ${index}`)] },
    }),
  );
  expect(await Promise.all(ends)).toEqual([true, false, false]);
  const { rows } = await sql<{ id: string; status: string; sequence: number | null; last: string | null }>`
    select run.id, run.status, result.sequence, convert_from(message, 'utf8') as last
    from run left join run_result as result on result.run_id = run.id
    left join transcript on transcript.run_id = run.id and position = 1`.execute(db);
  expect(new Map(rows.map(({ id, ...row }) => [id, row]))).toEqual(
    new Map([
      [runs[0]?.id, { status: "completed", sequence: 1, last: "message 0" }],
      [runs[1]?.id, { status: "running", sequence: null, last: null }],
      [runs[2]?.id, { status: "queued", sequence: null, last: null }],
    ]),
  );
});

function start(db: Db, { session, owner }: { readonly session: string; readonly owner?: string }) {
  return insertRun(db, { id: newUuid(0), client, session, driver: "test", input, timeoutMs: 60_000, owner });
}
