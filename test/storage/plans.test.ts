// Cached plans: frequent look-ups cost the same at any table size, even when the planner chose the plan on empty tables.

import { sql } from "kysely";
import { expect, test } from "vitest";
import { memoryOfSession } from "../../src/engine/memory/owner.ts";
import { writeMemory } from "../../src/engine/memory/write.ts";
import { listApprovalsToWatch } from "../../src/engine/storage/approval.ts";
import { settleCallback, takeDueCallbacks } from "../../src/engine/storage/callback.ts";
import {
  countClientRuns,
  listChangedRuns,
  listClientRuns,
  listRunsToCancel,
  listRunsToWatch,
} from "../../src/engine/storage/client-run.ts";
import { deleteUsageBefore } from "../../src/engine/storage/erase.ts";
import { queuePendingRuns } from "../../src/engine/storage/pending-run.ts";
import { findEndedRuns, listCancelRequests, wakeDueRuns } from "../../src/engine/storage/run.ts";
import { claimRuns } from "../../src/engine/storage/run-claim.ts";
import { createFindDue, isDueFor } from "../../src/engine/storage/run-due.ts";
import { completeOwnRun } from "../../src/engine/storage/run-end.ts";
import { readResultsOfRuns } from "../../src/engine/storage/run-result.ts";
import { insertRun, queueHiddenRuns } from "../../src/engine/storage/run-start.ts";
import { listDayUsage } from "../../src/engine/storage/run-usage.ts";
import { findSession, listSessions, lockSession } from "../../src/engine/storage/session.ts";
import {
  deleteStateOfSessions,
  findStateValue,
  listStateEntries,
  searchStateValues,
} from "../../src/engine/storage/state-value.ts";
import { foldEndedRuns } from "../../src/engine/storage/usage-sum.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { findCommunity } from "../../src/protocols/community/storage/community.ts";
import { listForumComments } from "../../src/protocols/community/storage/forum-comment.ts";
import { listRecentThreads } from "../../src/protocols/community/storage/forum-context.ts";
import { listForumThreads } from "../../src/protocols/community/storage/forum-thread.ts";
import { listTrustEvents } from "../../src/protocols/jobspec/storage/trust-event.ts";
import { findTrustedKey, listTrustedKeys } from "../../src/protocols/jobspec/storage/trusted-key.ts";
import { acceptOffer } from "../../src/protocols/langbot/storage/offer.ts";
import { addReplica, addRun, addSession, input, nothingSpent, openStore } from "../runlog/store.ts";
import { autovacuumOff } from "./read-meter.ts";

async function openQuietStore() {
  const store = await openStore({ poolSize: 1, own: true });
  await sql.raw(autovacuumOff).execute(store.db);
  return store;
}

/** A connection caches the plan at the sixth execution. */
const timesUntilKept = 6;
const client = "shared/test";
const sessions = 2_000;

test("looking up a session reads only that session, however many its client has", async () => {
  const { db } = await openQuietStore();
  const first = await addRun(db);
  const ask = async (): Promise<void> => {
    expect(await findSession(db, { client, name: first.session })).toBeDefined();
    expect(await db.transaction().execute((trx) => lockSession(trx, { client, name: first.session }))).toBeDefined();
  };
  await repeat(ask);
  await addSessions(db);
  const { read } = await countReads(db, "session", ask);
  expect(read).toBeLessThan(10);
});

test("starting and completing a run reads that run alone, however many there are", async () => {
  const { db } = await openQuietStore();
  const owner = await addReplica(db);
  const session = await addSession(db);
  let position = 0;
  const ask = async (): Promise<void> => {
    const id = newUuid(0);
    const run = await insertRun(db, { id, client, session, driver: "test", input, timeoutMs: 60_000, owner });
    expect(run).toMatchObject({ owner });
    position += 1;
    const ended = await completeOwnRun(db, {
      id,
      replicaId: owner,
      epoch: 1,
      turn: 1,
      isCalledBack: false,
      results: [{ runId: id, sequence: 1, epoch: 1, payload: Buffer.from("terminal") }],
      logHash: Buffer.alloc(32),
      spent: nothingSpent,
      transcript: { position, messages: [] },
    });
    expect(ended).toBe(true);
  };
  await repeat(ask);
  await addSessions(db);
  for (const table of ["session", "run", "tool_call", "transcript"]) {
    expect(await countReads(db, table, ask)).toEqual({ read: expect.toSatisfy((read) => read < 20), full: 0 });
  }
});

test("a page of a client's sessions reads no more rows than the page", async () => {
  const { db } = await openQuietStore();
  await addRun(db);
  const ask = async (): Promise<void> => void (await listSessions(db, { client }, { before: undefined, limit: 5 }));
  await repeat(ask);
  await addSessions(db);
  const { read, full } = await countReads(db, "session", ask);
  expect(full).toBe(0);
  expect(read).toBeLessThan(20);
});

test("a memory is read, searched, written and deleted without the rows of others", async () => {
  const { db } = await openQuietStore();
  const session = newUuid(0);
  const memory = memoryOfSession(client, session);
  const { owner } = memory;
  const ask = async (): Promise<void> => {
    await db.transaction().execute(async (trx) => {
      const written = await writeMemory(trx, { memory, key: "k", value: '"one"', ifVersion: undefined });
      expect(written.kind).toBe("written");
    });
    expect(await findStateValue(db, { owner, key: "k" })).toBeDefined();
    expect(await listStateEntries(db, { owner, prefix: "k", after: "", limit: 5 })).toHaveLength(1);
    expect(await searchStateValues(db, { owner, words: ["one"], limit: 5 })).toHaveLength(1);
    await deleteStateOfSessions(db, { sessions: [session], rowsMax: 500 });
  };
  await repeat(ask);
  await sql`insert into state_value (owner, key, client, value, session)
    select sha256(n::text::bytea), 'k', ${client}, '"one"', gen_random_uuid() from generate_series(1, ${sessions}) as n`.execute(
    db,
  );
  await sql`analyze state_value`.execute(db);
  const { read, full } = await countReads(db, "state_value", ask);
  expect(full).toBe(0);
  expect(read).toBeLessThan(20);
});

test("a list of active runs reads those alone, and a list by time no runs of other times", async () => {
  const { db } = await openQuietStore();
  await addRun(db);
  const page = { before: undefined, limit: 5 };
  const nextDay = new Date(Date.now() + 3 * 86_400_000);
  const asks = [
    async () => expect((await listRunsToCancel(db, { client, agentName: "none" }, page)).rows).toEqual([]),
    async () => expect((await listClientRuns(db, { client, states: ["queued"] }, page)).rows).toHaveLength(1),
    async () => {
      const { rows } = await listClientRuns(db, { client, model: "none", createTimeFrom: nextDay }, page);
      expect(rows).toEqual([]);
    },
  ];
  for (const ask of asks) {
    await repeat(async () => void (await ask()));
  }
  await addSessions(db);
  // Random ids are of any time; a first byte of 0 is before 2005.
  await sql`update run set id = encode(set_byte(uuid_send(id), 0, 0), 'hex')::uuid where status = 'completed'`.execute(
    db,
  );
  for (const ask of asks) {
    expect(await countReads(db, "run", async () => void (await ask()))).toEqual({
      read: expect.toSatisfy((read) => read < 20),
      full: 0,
    });
  }
});

test("a list by the last change reads a page, whatever its filters", async () => {
  const { db } = await openQuietStore();
  const { session } = await addRun(db);
  const page = { before: undefined, limit: 5 };
  const asks = [
    () => listChangedRuns(db, { client }, page),
    () => listChangedRuns(db, { client }, { ...page, before: `${Date.now() * 1_000} ${newUuid(0)}` }),
    () => listChangedRuns(db, { client, sessionName: session }, page),
    () => listChangedRuns(db, { client, states: ["failed"] }, page),
    () => listChangedRuns(db, { client, states: ["cancelled"] }, page),
    () => listChangedRuns(db, { client, states: ["completed"] }, page),
    () => listChangedRuns(db, { client, changeTimeFrom: new Date(Date.now() + 86_400_000) }, page),
    () => countClientRuns(db, { client }, 5),
  ];
  for (const ask of asks) {
    await repeat(async () => void (await ask()));
  }
  await addSessions(db);
  for (const ask of asks) {
    expect([String(ask), await countReads(db, "run", async () => void (await ask()))]).toEqual([
      String(ask),
      { read: expect.toSatisfy((read) => read < 40), full: 0 },
    ]);
  }
});

test("a watch of runs reads those that are active or have ended since", async () => {
  const { db } = await openQuietStore();
  await addRun(db);
  const tomorrow = new Date(Date.now() + 86_400_000);
  const ask = async (): Promise<void> =>
    void (await listRunsToWatch(db, { client, sessionName: undefined, endedSince: tomorrow, limit: 1_000 }));
  await repeat(ask);
  await addSessions(db);
  for (const table of ["run", "session"]) {
    expect(await countReads(db, table, ask)).toEqual({ read: expect.toSatisfy((read) => read < 20), full: 0 });
  }
});

test("a watch of approvals reads those of runs that are active or have ended since", async () => {
  const { db } = await openQuietStore();
  await addRun(db);
  const tomorrow = new Date(Date.now() + 86_400_000);
  const ask = async (): Promise<void> =>
    void (await listApprovalsToWatch(db, { client, runId: undefined, settledSince: tomorrow, limit: 1_000 }));
  await repeat(ask);
  await addSessions(db);
  await sql`insert into approval (id, client, run_id, action, request, digest, expire_time)
    select gen_random_uuid(), client, id, '', '{}', '', now() from run where end_time is not null`.execute(db);
  // As the service does with tables that have grown.
  await sql`analyze run; analyze session; analyze approval`.execute(db);
  for (const table of ["run", "session", "approval"]) {
    expect(await countReads(db, table, ask)).toEqual({ read: expect.toSatisfy((read) => read < 20), full: 0 });
  }
});

test("the looks of each second are not planned anew each time", async () => {
  const { db } = await openQuietStore();
  await addSessions(db);
  await sql`analyze`.execute(db);
  const settledSince = new Date();
  for (let time = 0; time < 2 * timesUntilKept; time += 1) {
    await readResultsOfRuns(db, { cursors: [{ runId: newUuid(0), after: 0 }], limitPerRun: 500 });
    await findEndedRuns(db, [newUuid(0)]);
    await listApprovalsToWatch(db, { client, runId: undefined, settledSince, limit: 500 });
  }
  const { rows } = await sql<{ custom: number }>`
    select custom_plans::int as custom from pg_prepared_statements where generic_plans + custom_plans = ${2 * timesUntilKept}::int`.execute(
    db,
  );
  expect(rows).toEqual(Array(3).fill({ custom: timesUntilKept - 1 }));
});

test("usage by day reads sums, however many runs have ended", async () => {
  const { db } = await openQuietStore();
  const days = { dayFrom: "2026-01-01", dayTo: "2026-01-31", after: undefined, limit: 5 };
  const ask = async (): Promise<void> => void (await listDayUsage(db, { client, ...days }));
  await repeat(ask);
  await addSessions(db);
  await sql`update run set end_time = '2026-01-02'`.execute(db);
  await sql`insert into ended_run (run_id) select id from run`.execute(db);
  await foldEndedRuns(db);
  expect(await listDayUsage(db, { client, ...days })).toMatchObject([{ day: "2026-01-02", runs: sessions }]);
  for (const table of ["run", "usage_sum"]) {
    expect(await countReads(db, table, ask)).toEqual({ read: expect.toSatisfy((read) => read < 20), full: 0 });
  }
});

test("the sweep of budgets reads the days that are over", async () => {
  const { db } = await openQuietStore();
  const ask = async (): Promise<void> => void (await deleteUsageBefore(db, 90));
  await repeat(ask);
  await sql`
    insert into client_usage (client, day) select 'client ' || n, current_date from generate_series(1, ${sessions}::int) as n`.execute(
    db,
  );
  await sql`analyze client_usage`.execute(db);
  expect(await countReads(db, "client_usage", ask)).toEqual({ read: 0, full: 0 });
});

test("an agent's context counts no comments", async () => {
  const { db } = await openQuietStore();
  await sql`insert into community (id, slug, name) values ('c', 'c', 'c')`.execute(db);
  await sql`insert into forum_thread (id, community_id, title, body, type) values ('t', 'c', '', '', 'DISCUSSION')`.execute(
    db,
  );
  await sql`
    insert into forum_comment (id, thread_id, community_id, agent_id, body, kind)
    select n::text, 't', 'c', 'a', '', (array['DISCUSSION', 'JOKE'])[1 + n % 2] from generate_series(1, ${sessions}::int) as n`.execute(
    db,
  );
  const ask = async (): Promise<void> => {
    expect(await findCommunity(db, "c")).toMatchObject({ comment_count: sessions / 2 });
    const threads = await listRecentThreads(db, { communityId: "c", limit: 5 });
    expect(threads).toMatchObject([{ comment_count: sessions / 2 }]);
  };
  expect(await countReads(db, "forum_comment", ask)).toEqual({ read: 0, full: 0 });
});

test("looking for runs to wake or to cancel never reads all runs", async () => {
  const { db } = await openQuietStore();
  const ask = async (): Promise<void> => {
    await createFindDue(db, { marginMs: 0 })();
    await isDueFor(db, { owner: newUuid(0), except: [], startedBeforeMs: 0 });
    await wakeDueRuns(db);
    await listCancelRequests(db, newUuid(0));
  };
  await repeat(ask);
  await addSessions(db);
  expect((await countReads(db, "run", ask)).full).toBe(0);
});

test("looking for pending runs reads a few of each session, however many wait in it", async () => {
  const { db } = await openQuietStore();
  const ask = async (): Promise<void> => expect(await queuePendingRuns(db, 100)).toEqual([]);
  await repeat(ask);
  await addSessions(db);
  const waitingSessions = 3;
  for (let added = 0; added < waitingSessions; added++) {
    const { session } = await addRun(db);
    await sql`
      insert into run (id, client, session, driver, input, status, epoch, deadline, wake_at)
      select gen_random_uuid(), ${client}, ${session}::uuid, 'test', '', 'pending', 0, now(), now()
      from generate_series(1, 100)`.execute(db);
  }
  await sql`analyze run`.execute(db);
  const { read, full } = await countReads(db, "run", ask);
  expect(full).toBe(0);
  expect(read).toBeLessThan(5 * waitingSessions);
});

test("a claim reads a few runs of the queue, however long it is", async () => {
  const { db } = await openQuietStore();
  const owner = await addReplica(db);
  const ask = async (): Promise<void> => {
    await addRun(db);
    expect(await claimRuns(db, { owner, limit: 1, exceptDrivers: ["other"] })).toHaveLength(1);
  };
  await repeat(ask);
  await addSessions(db);
  await sql`
    insert into run (id, client, session, driver, input, status, epoch, deadline, wake_at)
    select gen_random_uuid(), client, id, 'test', '', 'queued', 0, now() + interval '1 hour', now() from session
    on conflict do nothing`.execute(db);
  // As autovacuum does for a table that has grown so. The plan for an empty table reads all runs.
  await sql`analyze run`.execute(db);
  expect(await countReads(db, "run", ask)).toEqual({ read: expect.toSatisfy((read) => read < 50), full: 0 });
});

test("queueing a run in a hidden session, and accepting its offer, reads that run alone", async () => {
  const { db } = await openQuietStore();
  const owner = await addReplica(db);
  const offerId = newUuid(0);
  const ask = async (): Promise<void> => {
    const [id, session] = [newUuid(0), newUuid(0)];
    const run = { id, session, client, driver: "test", input, sessionAgent: new Uint8Array(), timeoutMs: 60_000 };
    await db.transaction().execute(async (trx) => {
      await queueHiddenRuns(trx, [run], { runner_id: ["text", () => "a/b/c"] });
      await sql`
        insert into remote_run (run_id, client, runner_id, binding_id, era, scope, granted, context, offer_id, offer_session,
          offer_until)
        values (${id}, ${client}, 'a/b/c', '', '', '{}', '{}', '', ${offerId}, ${offerId}, now() + interval '1 hour')`.execute(
        trx,
      );
      const acceptance = { runId: id, client, session: offerId, offerId, owner };
      expect(await acceptOffer(trx, acceptance)).toMatchObject({ id, owner, epoch: 1, session_name: session });
    });
  };
  await repeat(ask);
  await addSessions(db);
  for (const table of ["session", "run", "remote_run"]) {
    expect(await countReads(db, table, ask)).toEqual({ read: expect.toSatisfy((read) => read < 10), full: 0 });
  }
});

test("taking callbacks reads neither settled callbacks nor those that wait for another attempt", async () => {
  const { db } = await openQuietStore();
  const hold = { limit: 32, limitPerClient: 16, exceptClients: [], holdMs: 20_000 };
  const settled = { state: "delivered", error: null, waitMs: 0 } as const;
  await repeat(async () => {
    await takeDueCallbacks(db, hold);
    await settleCallback(db, { ...settled, id: newUuid(0), attempts: 1 });
  });
  await addSessions(db);
  await sql`
    insert into callback (client, session, sequence, status, base_url, state, due_time, end_time)
    select client, id, 0, 'created', 'https://host.example', state, now() + interval '5 minutes',
      case when state <> 'pending' then now() end
    from session cross join unnest(array['delivered', 'delivered', 'pending', 'pending']) as state`.execute(db);
  const nothing = await countReads(db, "callback", async () => {
    expect(await takeDueCallbacks(db, hold)).toEqual([]);
  });
  expect(nothing.full).toBe(0);
  expect(nothing.read).toBeLessThan(10);
  await sql`update callback set due_time = now() where session in (select id from session limit 3)`.execute(db);
  const some = await countReads(db, "callback", async () => {
    expect(await takeDueCallbacks(db, hold)).toHaveLength(3);
  });
  expect(some.full).toBe(0);
  expect(some.read).toBeLessThan(60);
  const ids = await db.selectFrom("callback").select("id").where("attempts", "=", 1).execute();
  const settling = await countReads(db, "callback", async () => {
    for (const { id } of ids) {
      expect(await settleCallback(db, { ...settled, id, attempts: 1 })).toBe(true);
    }
  });
  expect(ids).toHaveLength(3);
  expect(settling.full).toBe(0);
  expect(settling.read).toBeLessThan(20);
});

test("finding a key reads one row, and a page of keys or of trust events no more rows than the page", async () => {
  const { db } = await openQuietStore();
  const ask = async (): Promise<void> => void (await findTrustedKey(db, Buffer.from("key 7")));
  const page = async (): Promise<void> => {
    await listTrustedKeys(db, { after: "k1", limit: 5 });
    await listTrustEvents(db, { type: "key.revoked", before: undefined, limit: 5 });
  };
  await repeat(ask);
  await repeat(page);
  await sql`
    insert into trusted_key (kid, public_key)
    select 'k' || n, convert_to('key ' || n, 'utf8') from generate_series(1, ${sessions}::int) as n`.execute(db);
  await sql`
    insert into trust_event (id, type, actor)
    select gen_random_uuid(), 'key.' || (array['created', 'updated', 'revoked'])[n % 3 + 1], 'admin'
    from generate_series(1, ${sessions}::int) as n`.execute(db);
  // The server does this by itself within a minute of so many new rows.
  await sql`analyze trusted_key, trust_event`.execute(db);
  expect(await countReads(db, "trusted_key", ask)).toEqual({ read: 1, full: 0 });
  for (const table of ["trusted_key", "trust_event"]) {
    const { read, full } = await countReads(db, table, page);
    expect(full).toBe(0);
    expect(read).toBeLessThan(20);
  }
});

test("a page of a community's threads, or of a thread's comments, reads no more rows than the page", async () => {
  const { db } = await openQuietStore();
  const filter = { communityId: "c", type: undefined, requestState: undefined };
  const page = async (): Promise<void> => {
    await listForumThreads(db, filter, { after: "thread 7", limit: 5 });
    await listForumThreads(db, { ...filter, type: "REPORT_TO_HUMAN" }, { after: undefined, limit: 5 });
    await listForumComments(db, "thread 1", { after: "comment 7", limit: 5 });
  };
  await repeat(page);
  await sql`
    insert into forum_thread (id, community_id, title, body, type, create_time)
    select 'thread ' || n, 'c', '', '', 'DISCUSSION', now() + n * interval '1 second'
    from generate_series(1, ${sessions}::int) as n`.execute(db);
  await sql`
    insert into forum_comment (id, thread_id, community_id, agent_id, body, kind, create_time)
    select 'comment ' || n, 'thread 1', 'c', 'a', '', (array['DISCUSSION', 'JOKE'])[1 + n % 2],
      now() + n * interval '1 second'
    from generate_series(1, ${sessions}::int) as n`.execute(db);
  await sql`analyze forum_thread, forum_comment`.execute(db);
  for (const table of ["forum_thread", "forum_comment"]) {
    const { read, full } = await countReads(db, table, page);
    expect(full).toBe(0);
    expect(read).toBeLessThan(20);
  }
});

async function repeat(ask: () => Promise<void>): Promise<void> {
  for (let time = 0; time < timesUntilKept; time++) {
    await ask();
  }
}

/** Adds many sessions of one client, each with a run that has ended. */
async function addSessions(db: Db): Promise<void> {
  await sql`
    with added as (
      insert into session (id, client, name, agent)
      select gen_random_uuid(), ${client}, 'many ' || n, '' from generate_series(1, ${sessions}::int) as n returning id
    )
    insert into run (id, client, session, driver, input, status, epoch, deadline, end_time)
    select gen_random_uuid(), ${client}, id, 'test', '', 'completed', 1, now(), now() from added`.execute(db);
}

/** Rows of a table that this connection read by an index, and its full scans of the table. */
async function countReads(db: Db, table: string, ask: () => Promise<void>): Promise<{ read: number; full: number }> {
  const before = await readCounts(db, table);
  await ask();
  const after = await readCounts(db, table);
  return { read: after.read - before.read, full: after.full - before.full };
}

async function readCounts(db: Db, table: string): Promise<{ read: number; full: number }> {
  // A connection publishes its counts when it is idle, or at once when forced.
  await sql`select pg_stat_force_next_flush()`.execute(db);
  await sql`select pg_stat_clear_snapshot()`.execute(db);
  const { rows } = await sql<{ read: number; full: number }>`
    select idx_tup_fetch as read, seq_scan as full from pg_stat_user_tables where relname = ${table}`.execute(db);
  return rows[0] ?? { read: 0, full: 0 };
}
