// The gate: which calls it admits, the order of its checks, and its audit.

import { type ServiceError, status } from "@grpc/grpc-js";
import { sql } from "kysely";
import { expect } from "vitest";
import { RunTokens } from "../../src/platform/auth/run-token.ts";
import { loadSecret } from "../../src/platform/auth/storage/secret.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { connect } from "../runlog/store.ts";
import {
  apiErrorOf,
  endRun,
  invalid,
  method,
  openStage,
  refusalOf,
  requestCancel,
  test,
  unauthorized,
} from "./stage.ts";

const state = { scope: "runner", key: "pointer" };

test("a run's token with the id of another, an unknown or an invalid run gets one answer", async ({ stage }) => {
  const mine = await stage.addRunner();
  const other = await stage.addRunner();
  await other.call(method.setState, { ...state, value: '"secret"' });
  const answers = await Promise.all(
    [other.runId, newUuid(systemClock.nowMs()), "no id"].map((runId) =>
      refusalOf(mine.call(method.getState, { ...state, runId })),
    ),
  );
  expect(answers[0]).toMatchObject({ ...unauthorized, message: "run is not active", retryable: false });
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  // They are audited for the run of the token.
  expect((await stage.audit(mine.runId)).map(({ result }) => result)).toEqual(["deny", "deny", "deny"]);
  expect(await stage.audit(other.runId)).toHaveLength(1);
});

test("a valid token of a missing run gets the answer of a run that has ended", async ({ stage }) => {
  const ended = await stage.addRunner();
  await endRun(stage.db, ended.runId);
  const tokens = new RunTokens(await loadSecret(stage.db, "run token"));
  const runId = newUuid(systemClock.nowMs());
  const headers = { authorization: `Bearer ${tokens.make({ runId, attempt: 1 })}` };
  const gone = await refusalOf(ended.call(method.getState, { ...state, runId }, headers));
  expect(gone).toEqual(await refusalOf(ended.call(method.getState, state)));
});

test("after its end a run can call nothing", async ({ stage }) => {
  const runner = await stage.addRunner();
  expect(await runner.call(method.getVersion)).toBeDefined();
  await endRun(stage.db, runner.runId);
  const answers = await Promise.all([
    refusalOf(runner.call(method.getVersion)),
    refusalOf(runner.call(method.getRun)),
    refusalOf(runner.call(method.setState, { ...state, value: "1" })),
    refusalOf(runner.call(method.getState, state)),
    refusalOf(runner.call(method.pageHistory)),
    refusalOf(runner.call(method.writeStorage, { area: 1, key: "a", finish: true })),
    refusalOf(runner.readArtifact({ artifactId: "a" })),
  ]);
  for (const answer of answers) {
    expect(answer).toMatchObject({ ...unauthorized, message: "run is not active" });
  }
});

test("a state write that waits for the end of its run is refused", async ({ stage }) => {
  const runner = await stage.addRunner();
  const { db } = connect(stage.url);
  const late = await db.transaction().execute(async (trx) => {
    await trx.selectFrom("run").select("id").where("id", "=", runner.runId).forUpdate().execute();
    const setting = refusalOf(runner.call(method.setState, { ...state, value: "1" }));
    await waitsForLock(stage.db);
    await endRun(trx, runner.runId);
    return { setting };
  });
  expect(await late.setting).toMatchObject({ ...unauthorized, message: "run is not active" });
  expect(await stage.db.selectFrom("state_value").select("key").execute()).toEqual([]);
  expect(await stage.audit(runner.runId)).toMatchObject([{ action: "state_set", result: "deny" }]);
});

test("the end of a run waits for a state write, whose value stays", async ({ stage }) => {
  const runner = await stage.addRunner();
  await runner.call(method.setState, { ...state, value: "1" });
  const { db } = connect(stage.url);
  const { setting, ending } = await db.transaction().execute(async (trx) => {
    // The write waits for this row, and holds a lock on the run meanwhile.
    await trx.selectFrom("state_value").select("key").where("key", "=", state.key).forUpdate().execute();
    const setting = runner.call(method.setState, { ...state, value: "2" });
    await waitsForLock(stage.db);
    const ending = endRun(stage.db, runner.runId);
    await waitsForLock(stage.db, 2);
    return { setting, ending };
  });
  await setting;
  await ending;
  const rows = await stage.db.selectFrom("state_value").select(["key", "value"]).execute();
  expect(rows).toEqual([{ key: "pointer", value: "2" }]);
});

test("the token of an earlier attempt is refused", async ({ stage }) => {
  const runner = await stage.addRunner();
  await stage.db.updateTable("remote_run").set({ attempt: 2 }).where("run_id", "=", runner.runId).execute();
  expect(await refusalOf(runner.call(method.getState, state))).toMatchObject({
    ...unauthorized,
    message: "run is not active",
  });
  expect(await runner.as(2).call(method.getState, state)).toMatchObject({ found: false });
});

test("a call without a run id is invalid, even when it needs no grant", async ({ stage }) => {
  const runner = await stage.addRunner();
  const refusal = await refusalOf(runner.call(method.getVersion, { runId: "" }));
  expect(refusal).toMatchObject(invalid);
  expect(refusal.message).toContain("run_id");
});

test("a run past its deadline gets DEADLINE_EXCEEDED, before it is ended and with any timeout of the call", async () => {
  const stage = await openStage();
  const runner = await stage.addRunner();
  await stage.db
    .updateTable("run")
    .set({ deadline: new Date(systemClock.nowMs() - 1) })
    .where("id", "=", runner.runId)
    .execute();
  const refusal = await refusalOf(runner.call(method.getState, state));
  expect(refusal).toMatchObject({ status: "DEADLINE_EXCEEDED", code: "deadline_exceeded", retryable: false });
  const run = await stage.db.selectFrom("run").select("status").where("id", "=", runner.runId).executeTakeFirst();
  expect(run?.status).toBe("running");
});

test("a call cannot outlast the deadline of its run", async ({ stage }) => {
  // The call may take thirty seconds, its action fifteen, and the run this long.
  const runner = await stage.addRunner({ timeoutMs: 2_000 });
  const { db } = connect(stage.url);
  await db.transaction().execute(async (trx) => {
    await sql`lock table state_value`.execute(trx);
    const refusal = await refusalOf(runner.call(method.getState, state));
    expect(refusal).toMatchObject({ status: "DEADLINE_EXCEEDED", code: "deadline_exceeded", retryable: false });
  });
});

test("after a cancel request a run may read and save, and its calls are audited", async ({ stage }) => {
  const runner = await stage.addRunner();
  await requestCancel(stage.db, runner.runId);
  await runner.call(method.setState, { ...state, value: "1" });
  expect(await runner.call(method.getState, state)).toMatchObject({ found: true, value: "1" });
  await runner.call(method.writeStorage, { area: 1, key: "a", content: Buffer.from("kept"), finish: true });
  expect((await runner.call(method.getRun)).run?.cancelRequestTime).toBeDefined();
  expect((await stage.audit(runner.runId)).map(({ action, result }) => [action, result])).toEqual([
    ["state_set", "allow"],
    ["state_get", "allow"],
    ["set_plugin_storage", "allow"],
    ["run_get", "allow"],
  ]);
});

test("every call leaves one audit entry, with the resource and without the sent values", async ({ stage }) => {
  const runner = await stage.addRunner({ grant: { workspaceStorage: false } });
  await runner.call(method.setState, { scope: "actor", key: "mood", value: '"confidential"' });
  await refusalOf(runner.call(method.setState, { scope: "actor", key: "mood", value: "confidential" }));
  await refusalOf(runner.call(method.readStorage, { area: 2, key: "report" }));
  await refusalOf(runner.call(method.getEvent, { eventId: "elsewhere" }));
  await refusalOf(runner.readArtifact({ artifactId: "picture" }));
  await refusalOf(runner.call(method.pageHistory, { conversationId: "another" }));
  await runner.call(method.getVersion);
  const entries = await stage.audit(runner.runId);
  expect(
    entries.map(({ action, resource, scope, result, reason }) => [action, resource, scope, result, reason]),
  ).toEqual([
    ["state_set", "mood", "actor", "allow", ""],
    ["state_set", "mood", "actor", "allow", "INVALID_ARGUMENT"],
    ["get_workspace_storage", "report", "workspace", "deny", "workspace storage is not granted to this run"],
    ["event_get", "elsewhere", "", "allow", "RESOURCE_NOT_FOUND"],
    ["artifact_read", "picture", "", "allow", "RESOURCE_NOT_FOUND"],
    ["history_page", "another", "conversation", "deny", "the conversation does not belong to this run"],
    ["get_langbot_version", "", "", "allow", ""],
  ]);
  expect(new Set(entries.map((entry) => entry.runner_id))).toEqual(new Set([runner.scope.runnerId]));
  expect(JSON.stringify(entries)).not.toContain("confidential");
});

test("names from callers are cleaned and cut for the audit", async ({ stage }) => {
  const runner = await stage.addRunner();
  await refusalOf(runner.call(method.getEvent, { eventId: `a\0b${"c".repeat(1_000)}` }));
  const [entry] = await stage.audit(runner.runId);
  expect(entry?.resource).toBe(`ab${"c".repeat(253)}`);
});

test("calls of runners use no sequence number and leave no entry in the log", async ({ stage }) => {
  const runner = await stage.addRunner();
  await runner.call(method.setState, { ...state, value: "1" });
  await runner.call(method.getState, state);
  expect(
    await stage.db.selectFrom("run_result").select("sequence").where("run_id", "=", runner.runId).execute(),
  ).toEqual([]);
  expect(await stage.db.selectFrom("run").select("last_sequence").where("id", "=", runner.runId).execute()).toEqual([
    { last_sequence: 0 },
  ]);
});

test("a runner over its rate limit gets RATE_LIMITED, and other runs are served", async () => {
  // Its bucket never refills, however slow the machine is.
  const stage = await openStage({ clock: { ...systemClock, monotonicMs: () => 0 } });
  const greedy = await stage.addRunner();
  const modest = await stage.addRunner();
  const refused: ServiceError[] = [];
  let calls = 0;
  await until("a call to be refused", async () => {
    const answers = await Promise.allSettled(Array.from({ length: 300 }, () => greedy.call(method.getVersion)));
    refused.push(...answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : [])));
    calls += answers.length;
    return refused.length > 0;
  });
  for (const error of refused) {
    expect(error.code).toBe(status.RESOURCE_EXHAUSTED);
    expect(apiErrorOf(error)).toMatchObject({ code: "rate_limited", retryable: true });
  }
  await modest.call(method.getVersion);
  const entries = await stage.audit(greedy.runId);
  expect(entries.filter(({ result }) => result === "deny")).toHaveLength(refused.length);
  expect(entries).toHaveLength(calls);
});

test("a call without a run token is refused with the protocol's code unauthorized", async ({ service }) => {
  const grpc = new GrpcClient(service.target, {});
  const ask = (headers: Record<string, string>) => refusalOf(grpc.call(method.getVersion, { runId: "a" }, headers));
  expect(await ask({})).toMatchObject({ status: "UNAUTHENTICATED", code: "unauthorized" });
  expect(await ask({ authorization: "Bearer rrun_forged" })).toMatchObject({
    status: "UNAUTHENTICATED",
    code: "unauthorized",
  });
  const asClient = new GrpcClient(service.target);
  expect(await refusalOf(asClient.call(method.getVersion, { runId: "a" }))).toMatchObject(unauthorized);
});

/** Waits until this many statements wait for a lock. */
async function waitsForLock(db: Db, count = 1): Promise<void> {
  await until(`${count} statements to wait`, async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return rows.length >= count;
  });
}
