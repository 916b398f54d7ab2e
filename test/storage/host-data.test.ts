// Deletion of the data of runners' runs: when each is deleted, and what stays because it is still needed.

import { sql } from "kysely";
import { expect, test } from "vitest";
import { retention } from "../../src/app/protocols.ts";
import { Broadcaster } from "../../src/engine/log/broadcaster.ts";
import { purgeSession } from "../../src/engine/sessions/purge.ts";
import { eraseContents } from "../../src/engine/storage/erase.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { lowestUuid, newUuid } from "../../src/platform/base/ids.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { conversationKey } from "../../src/protocols/langbot/runners/scope.ts";
import { claimArtifact, deleteExpiredArtifacts, putArtifact } from "../../src/protocols/langbot/storage/artifact.ts";
import { deleteAuditEntries, insertAuditEntry } from "../../src/protocols/langbot/storage/audit-entry.ts";
import { insertRemoteRun } from "../../src/protocols/langbot/storage/remote-run.ts";
import {
  beginStorageVersion,
  deleteStalePieces,
  finishStorageValue,
  insertStoragePiece,
} from "../../src/protocols/langbot/storage/storage-value.ts";
import { deleteOldForwardedReports, deleteUnseenWorkerSessions } from "../../src/protocols/langbot/storage/sweep.ts";
import { addEvent, addHistory } from "../host/stage.ts";
import { addRun, LocalWakeup, openStore } from "../runlog/store.ts";

const client = "shared/test";
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A runner's run with all kinds of rows that belong to it, with or without a conversation. */
async function addRemoteRun(db: Db, conversationId: string | undefined): Promise<{ runId: string; session: string }> {
  const { id: runId, session } = await addRun(db);
  const scope = {
    client,
    runnerId: "plugin:a/b/c",
    bindingId: "binding",
    eventId: `event of ${runId}`,
    conversationId,
  };
  const { runnerId, bindingId } = scope;
  await db.transaction().execute(async (trx) => {
    const context = Buffer.from("confidential");
    const address = undefined;
    await insertRemoteRun(trx, {
      runId,
      client,
      runnerId,
      bindingId,
      era: "spec",
      scope,
      granted: {},
      context,
      address,
    });
    await putArtifact(trx, {
      client,
      artifactId: `artifact of ${runId}`,
      runId,
      runnerId,
      scope: conversationKey(scope),
      artifactType: "file",
      mimeType: undefined,
      name: undefined,
      sizeBytes: undefined,
      sha256: undefined,
      metadata: "{}",
      content: Buffer.from("confidential"),
    });
    const verdict = { run_id: runId, sequence: 1, type: "message.delta", disposition: "dropped_invalid" };
    const rows = Array.from({ length: 600 }, (_, position) => ({
      ...verdict,
      position,
      diagnostics: ["confidential"],
    }));
    await trx.insertInto("result_verdict").values(rows).execute();
  });
  await addEvent(db, { runId, scope }, { seq: Number(await countRows(db, "agent_event")) + 1 });
  if (conversationId !== undefined) {
    await addHistory(db, { runId, scope }, [{ content: "confidential" }]);
  }
  return { runId, session };
}

async function countRows(db: Db, table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db);
  return rows[0]?.count ?? 0;
}

test("the rows of a runner's run are deleted before the run; those of its conversation stay", async () => {
  const { db } = await openStore();
  const spoken = await addRemoteRun(db, "conversation");
  const silent = await addRemoteRun(db, undefined);
  const kept = await addRemoteRun(db, "conversation");
  await sql`update run set status = 'completed', owner = null where id <> ${kept.runId}`.execute(db);
  expect(await eraseContents(db, [spoken.session, silent.session], retention)).toBe(2);
  const left = await db.selectFrom("remote_run").select("run_id").execute();
  expect(left).toEqual([{ run_id: kept.runId }]);
  expect(await countRows(db, "result_verdict")).toBe(600);
  const ofConversation = [{ run_id: spoken.runId }, { run_id: kept.runId }];
  expect(await db.selectFrom("agent_event").select("run_id").orderBy("run_id").execute()).toEqual(ofConversation);
  expect(await db.selectFrom("artifact").select("run_id").orderBy("run_id").execute()).toEqual(ofConversation);
  expect(await countRows(db, "history_item")).toBe(2);
});

test("a purge removes the content from all data of a runner's run", async () => {
  const { db } = await openStore();
  const { runId, session } = await addRemoteRun(db, "conversation");
  const other = await addRemoteRun(db, "conversation");
  await sql`update run set status = 'completed', owner = null where id = ${runId}`.execute(db);
  await sql`update session set delete_time = now() where id = ${session}`.execute(db);
  await purgeSession(
    { db, broadcaster: new Broadcaster(), wakeup: new LocalWakeup(), retention },
    { client, name: session },
  );
  const { rows } = await sql<{ told: string }>`
    select context::text as told from remote_run where run_id = ${runId}
    union all select record::text from agent_event where run_id = ${runId}
    union all select content_json || coalesce(content, '') from history_item where run_id = ${runId}
    union all select distinct diagnostics::text from result_verdict where run_id = ${runId}
    union all select content::text from artifact where run_id = ${runId}`.execute(db);
  expect(rows.map(({ told }) => told).toSorted()).toEqual(["\\x", "\\x", "{}", "{}"]);
  const said = await db.selectFrom("history_item").select(["seq", "run_id", "content"]).orderBy("seq").execute();
  expect(said).toEqual([
    { seq: 1, run_id: runId, content: null },
    { seq: 2, run_id: other.runId, content: "confidential" },
  ]);
});

test("audit entries are deleted by age, a bounded number at a time", async () => {
  const { db } = await openStore();
  const nowMs = systemClock.nowMs();
  const entry = { client, run_id: newUuid(nowMs), runner_id: "", action: "state_get", resource: "", scope: "" };
  for (const ageDays of [91, 92, 93, 89, 0]) {
    const id = newUuid(nowMs - ageDays * dayMs);
    await insertAuditEntry(db, { ...entry, id, result: "allow", reason: "" });
  }
  const args = { createdBefore: lowestUuid(nowMs - 90 * dayMs), limit: 2 };
  expect([await deleteAuditEntries(db, args), await deleteAuditEntries(db, args)]).toEqual([2, 1]);
  expect(await countRows(db, "audit_entry")).toBe(2);
});

test("artifacts are deleted when they expire, and claimed ids without content after a day", async () => {
  const { db } = await openStore();
  const runs = await Promise.all(Array.from({ length: 3 }, (_, index) => addRemoteRun(db, `conversation ${index}`)));
  const [past, future, claiming] = runs.map(({ runId }) => runId);
  await sql`update artifact set expire_time = now() - interval '1 second' where run_id = ${past}`.execute(db);
  await sql`update artifact set expire_time = now() + interval '1 hour' where run_id = ${future}`.execute(db);
  for (const artifactId of ["old", "new"]) {
    await claimArtifact(db, { client, artifactId, runId: claiming ?? "" });
  }
  await sql`update artifact set create_time = now() - interval '25 hours' where artifact_id = 'old'`.execute(db);
  expect(await deleteExpiredArtifacts(db, { limit: 10 })).toBe(2);
  const left = await db.selectFrom("artifact").select("artifact_id").execute();
  expect(new Set(left.map((row) => row.artifact_id))).toEqual(
    new Set([`artifact of ${future}`, `artifact of ${claiming}`, "new"]),
  );
});

test("stale pieces are deleted, except those of a finished or a growing value, which are found once or never", async () => {
  const { db } = await openStore();
  const whose = { owner: Buffer.from("owner"), runId: newUuid(systemClock.nowMs()) };
  const write = async (key: string, ages: readonly string[], isFinished: boolean) => {
    await db.transaction().execute(async (trx) => {
      const version = await beginStorageVersion(trx, { ...whose, key, nowMs: systemClock.nowMs() });
      for (const [offset, age] of ages.entries()) {
        await insertStoragePiece(trx, { ...whose, key, version, offset, content: Buffer.from("a") });
        await sql`
          update storage_piece set create_time = now() - ${age}::interval
          where version = ${version} and start_byte = ${offset}`.execute(trx);
      }
      if (isFinished) {
        await finishStorageValue(trx, { ...whose, key, client, version, sizeBytes: ages.length });
      }
    });
  };
  await write("given up", ["3 hours", "2 hours"], false);
  await write("growing", ["3 hours", "1 minute"], false);
  await write("finished", ["3 hours", "2 hours"], true);
  const stale = { ageMs: hourMs, limit: 10 };
  expect([await deleteStalePieces(db, stale), await deleteStalePieces(db, stale)]).toEqual([4, 0]);
  const left = await db.selectFrom("storage_piece").select("key").orderBy("key").execute();
  expect(left.map(({ key }) => key)).toEqual(["finished", "finished", "growing", "growing"]);
});

test("workers not seen for a day and forwarded reports older than an hour are deleted", async () => {
  const { db } = await openStore();
  const ago = (ms: number) => new Date(systemClock.nowMs() - ms);
  const worker = { client, worker_id: "worker", runner_ids: [] };
  const report = { run_id: newUuid(systemClock.nowMs()), request: Buffer.from("a"), response: null };
  for (const ms of [23 * hourMs, 25 * hourMs]) {
    await db
      .insertInto("worker_session")
      .values({ ...worker, id: newUuid(systemClock.nowMs()), seen_time: ago(ms) })
      .execute();
  }
  for (const ms of [hourMs / 2, 2 * hourMs]) {
    await db
      .insertInto("forwarded_report")
      .values({ ...report, id: newUuid(systemClock.nowMs()), create_time: ago(ms) })
      .execute();
  }
  expect(await deleteUnseenWorkerSessions(db, { ageMs: dayMs, limit: 10 })).toBe(1);
  expect(await deleteOldForwardedReports(db, { ageMs: hourMs, limit: 10 })).toBe(1);
  expect([await countRows(db, "worker_session"), await countRows(db, "forwarded_report")]).toEqual([1, 1]);
});
