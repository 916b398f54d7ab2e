// How long data is kept, as callers see it: sessions that expire, logs that are dropped, purges.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { MessageShape } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { describe, expect } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { decodeResult } from "../../src/engine/log/result.ts";
import { expireSessions, type SessionPlace } from "../../src/engine/storage/expire.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { openFolder } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { connect } from "../runlog/store.ts";
import {
  expectRefused,
  type Refusal,
  readSession,
  runNotFound,
  type Stage,
  sessionNotFound,
  setStage,
  startConversation,
  test,
  told,
} from "./stage.ts";
import type { Surface } from "./surface.ts";
import { findSurface, surfaces } from "./surfaces.ts";

const resultsExpired: Refusal = {
  grpcCode: "NOT_FOUND",
  httpStatus: 410,
  reason: "RESULTS_EXPIRED",
  text: /are no longer kept/,
};

const grpc = findSurface("gRPC");

/** Starts one more replica, whose upkeep begins as it starts. */
async function upkeep({ databaseUrl }: TestService, flags: Partial<Config>): Promise<void> {
  await startService({ databaseUrl, ...flags });
}

/** Moves everything about the session into the past by this many days. */
async function age({ databaseUrl }: TestService, sessionId: string, days: number): Promise<void> {
  const earlier = `- interval '${days} days'`;
  await query(
    databaseUrl,
    `with aged as (
       update session set create_time = create_time ${earlier}, delete_time = delete_time ${earlier}
       where name = '${sessionId}' returning id)
     update run set create_time = create_time ${earlier}, end_time = end_time ${earlier}
     from aged where run.session = aged.id`,
  );
}

async function isGone(api: Surface, sessionId: string): Promise<boolean> {
  return await api.getSession(sessionId).then(
    () => false,
    () => true,
  );
}

describe("unused sessions", () => {
  test("expire as if they had been deleted: the id is free again, the run stays readable", async ({ service }) => {
    const api = grpc.connect(service);
    const { session_id: sessionId } = await api.createSession({ sessionId: "a-name", agent: { name: "tester" } });
    const { run_id: runId } = await api.sendMessage({ sessionId, message: "words=3" });
    const results = await Array.fromAsync(api.followRun(runId));
    const { session_id: idle } = await api.createSession({ agent: { name: "tester" } });
    const { session_id: fresh } = await api.createSession({ agent: { name: "tester" } });
    const waiting = readSession(api, idle);
    await age(service, sessionId, 1);
    await age(service, idle, 1);
    await upkeep(service, { sessionsTtlMinutes: 30 });
    await until("both sessions to expire", async () => (await isGone(api, sessionId)) && (await isGone(api, idle)));
    expect(told(await waiting)).toEqual([["done", { status: "cancelled" }]]);
    await expectRefused(api.sendMessage({ sessionId, message: "still there?" }), sessionNotFound);
    expect((await api.listSessions({})).sessions.map((session) => session.session_id)).toEqual([fresh]);
    expect(await api.getRun(runId)).toMatchObject({ session_id: sessionId, state: "completed" });
    expect(await Array.fromAsync(api.followRun(runId))).toEqual(results);
    expect((await api.createSession({ sessionId, agent: { name: "tester" } })).session_id).toBe(sessionId);
  });

  // Messages and the upkeep compete for the same sessions. Each session is either deleted before its message or stays for its
  // run.
  test("either expire or accept the message that arrives at that moment", async () => {
    const service = await startService({ sessionsMaxConcurrent: 0 });
    const api = grpc.connect(service);
    const created = await Promise.all(
      Array.from({ length: 40 }, () => api.createSession({ agent: { name: "tester" } })),
    );
    await query(service.databaseUrl, "update session set create_time = create_time - interval '1 day'");
    const { db } = connect(service.databaseUrl);
    let after: SessionPlace | undefined;
    const expire = async (limit: number): Promise<void> => {
      const args = { ageMs: 60_000, after, limit };
      after = (await db.transaction().execute((trx) => expireSessions(trx, args))).next;
    };
    const sending = Promise.allSettled(
      created.map(({ session_id: sessionId }) => api.sendMessage({ sessionId, message: "words=1" })),
    );
    for (let pass = 0; pass < 10; pass++) {
      await expire(2);
    }
    const sent = await sending;
    after = undefined;
    await expire(100);
    for (const [index, { session_id: sessionId }] of created.entries()) {
      const isKept = sent[index]?.status === "fulfilled";
      expect(await isGone(api, sessionId)).toBe(!isKept);
    }
  });
});

describe("data past the retention", () => {
  test("is erased with its directory, once its session is deleted", async ({ folder: sessionsWorkRoot }) => {
    const service = await startService({ sessionsWorkRoot });
    const api = grpc.connect(service);
    const old = await converse(service, sessionsWorkRoot);
    const young = await converse(service, sessionsWorkRoot);
    const living = await converse(service, sessionsWorkRoot);
    await api.deleteSession(old.sessionId);
    await age(service, old.sessionId, 4);
    await api.deleteSession(young.sessionId);
    for (const { sessionId } of [old, young, living]) {
      await age(service, sessionId, 4);
    }
    await upkeep(service, { sessionsWorkRoot, retentionDays: 7, sessionsTtlMinutes: 30 * 24 * 60 });
    await until("the session to be erased", async () => {
      const left = await query(service.databaseUrl, "select from session where name = $1", [old.sessionId]);
      return left.length === 0;
    });
    await expectRefused(api.getRun(old.runId), runNotFound);
    expect(existsSync(old.directory)).toBe(false);
    for (const { runId, sessionId, directory } of [young, living]) {
      expect(await api.getRun(runId)).toMatchObject({ session_id: sessionId });
      expect(existsSync(directory)).toBe(true);
    }
  });

  test("gives RESULTS_EXPIRED on every surface, while the run is still known", async ({ service, api }) => {
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester", model: "demo" } });
    const { run_id: runId } = await api.sendMessage({ sessionId, message: "words=3" });
    const results = await Array.fromAsync(api.followRun(runId));
    await query(service.databaseUrl, "delete from run_result");
    for (const kind of surfaces) {
      const reader = kind.connect(service);
      await expectRefused(Array.fromAsync(reader.followRun(runId)), resultsExpired);
      await expectRefused(Array.fromAsync(reader.followRun(runId, 2)), resultsExpired);
      await expectRefused(readSession(reader, sessionId), resultsExpired);
      // A reader that has everything does not get the error that the log is gone.
      expect(await Array.fromAsync(reader.followRun(runId, results.length))).toEqual([]);
    }
    expect(await api.getRun(runId)).toMatchObject({ state: "completed", last_sequence: results.length });
  });

  test("gives an error instead of an empty list", async ({ service, api }) => {
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester", model: "demo" } });
    const { run_id: runId } = await api.sendMessage({ sessionId, message: "words=3" });
    await readSession(api, sessionId);
    const { next_page_token: pageToken } = await api.listResults({ runId, pageSize: 1 });
    await query(service.databaseUrl, "delete from run_result");
    for (const kind of surfaces) {
      await expectRefused(kind.connect(service).listResults({ runId }), resultsExpired);
      await expectRefused(kind.connect(service).listResults({ runId, pageToken: String(pageToken) }), resultsExpired);
    }
  });
});

interface Conversation {
  readonly sessionId: string;
  readonly runId: string;
  /** The directory of the session's tools; it contains a file that a tool wrote. */
  readonly directory: string;
}

async function converse(service: TestService, workRoot: string): Promise<Conversation> {
  const api = grpc.connect(service);
  // The first tool makes the directory.
  const agent = { name: "tester", model: "demo", tools: { builtin: ["list_dir"] } };
  const { session_id: sessionId } = await api.createSession({ agent });
  const { run_id: runId } = await api.sendMessage({ sessionId, message: "list the files" });
  await readSession(api, sessionId);
  const [row] = await query<{ id: string }>(service.databaseUrl, "select id from session where name = $1", [sessionId]);
  const [client] = await readdir(workRoot);
  const directory = join(workRoot, String(client), String(row?.id));
  await writeFile(join(directory, "notes.txt"), "left by a tool");
  return { sessionId, runId, directory };
}

const { purgeSession } = SessionService.method;

/** Returns the places that still hold a secret after a purge: any table, any column. */
async function findInTables(databaseUrl: string, secret: string): Promise<string[]> {
  const found: string[] = [];
  for (const table of ["session", "run", "run_result", "transcript", "tool_call", "checkpoint", "idempotency"]) {
    const rows = await query<{ row: object }>(databaseUrl, `select to_jsonb(${table}) as row from ${table}`);
    const texts = rows.map(({ row }) => JSON.stringify(Object.values(row).map(readHex)));
    found.push(...texts.filter((text) => text.includes(secret)).map((text) => `${table}: ${text}`));
  }
  return found;
}

/** The database returns bytes as `\x…`. */
function readHex(value: unknown): unknown {
  return typeof value === "string" && value.startsWith("\\x") ? Buffer.from(value.slice(2), "hex").toString() : value;
}

/** Creates a session that contains a secret in every way: in a message, in a file, as an argument, in an answer. */
async function tellSecrets(stage: Stage, secret: string): Promise<{ sessionId: string; runIds: string[] }> {
  const { api, provider } = stage;
  const workDir = await openFolder();
  await writeFile(join(workDir, "notes.txt"), secret);
  const { session_id: sessionId } = await api.createSession({
    workDir,
    requestId: "once",
    agent: { name: `agent ${secret}`, systemPrompt: secret, tools: { builtin: ["read_file", "list_dir"] } },
  });
  const call = { id: "call-1", name: "read_file", arguments: '{"path":"notes.txt"}' };
  const wrong = { id: "call-2", name: "list_dir", arguments: JSON.stringify({ path: secret }) };
  provider.respond(callTools(call, wrong), answer(`it says ${secret}`), answer(`again ${secret}`));
  const runIds: string[] = [];
  for (const message of [`read it, ${secret}`, `once more, ${secret}`]) {
    const { run_id: runId } = await api.sendMessage({ sessionId, message, requestId: message.slice(0, 8) });
    await readSession(api, sessionId);
    runIds.push(runId);
  }
  return { sessionId, runIds };
}

describe("a purge", () => {
  const secret = "Rumpelstiltskin";

  test("keeps sequence, type, usage and hashes of the content, and erases the content", async ({ stage }) => {
    const { service, api } = stage;
    const client = new GrpcClient(service.target);
    const { sessionId, runIds } = await tellSecrets(stage, secret);
    expect((await findInTables(service.databaseUrl, secret)).length).toBeGreaterThan(10);
    const log = "select run_id, sequence, payload from run_result order by run_id, sequence";
    const before = await query<{ run_id: string; sequence: string; payload: Buffer }>(service.databaseUrl, log);

    expect(await client.call(purgeSession, { sessionId })).toMatchObject({ runs: 2, results: BigInt(before.length) });

    expect(await findInTables(service.databaseUrl, secret)).toEqual([]);
    const after = await query<{ run_id: string; sequence: string; payload: Buffer }>(service.databaseUrl, log);
    expect(after.length).toBe(before.length);
    for (const [index, { payload, sequence }] of before.entries()) {
      const [first, left] = [decodeResult(payload), decodeResult(after[index]?.payload ?? Buffer.alloc(0))];
      const { purgedSha256, usage, createTime } = left;
      expect(left.sequence).toBe(BigInt(sequence));
      expect(left.payload.case).toBe(first.payload.case);
      expect({ usage, createTime }).toEqual({ usage: first.usage, createTime: first.createTime });
      expect(purgedSha256).toBe(createHash("sha256").update(payload).digest("hex"));
    }
    await expectRefused(api.getSession(sessionId), sessionNotFound);
    for (const runId of runIds) {
      const run = await api.getRun(runId);
      expect(run).toMatchObject({ state: "completed", session_id: sessionId });
      expect(run).not.toHaveProperty("output");
      for (const kind of surfaces) {
        const results = await Array.fromAsync(kind.connect(service).followRun(runId));
        expect(results.map(({ sequence }) => sequence)).toEqual(results.map((_, index) => index + 1));
        expect(results.length).toBe(run.last_sequence);
        expect(results.at(-1)?.type).toBe("run.completed");
        expect(JSON.stringify(results)).not.toContain(secret);
      }
    }
    const [first] = runIds;
    const { results } = await api.listResults({ runId: String(first) });
    expect(results.filter(({ type }) => type === "tool.call.started").map(({ payload }) => payload)).toEqual([
      { tool_name: "read_file", parameters: {} },
      { tool_name: "list_dir", parameters: {} },
    ]);

    // A second purge finds nothing to erase. The id is free for a new session, which the purge does not touch.
    expect(await client.call(purgeSession, { sessionId })).toMatchObject({ runs: 2, results: 0n });
    expect(await query(service.databaseUrl, log)).toEqual(after);
    await api.createSession({ sessionId, agent: { name: "tester" } });
    expect(await api.getSession(sessionId)).toMatchObject({ name: "tester" });
  });

  test("covers earlier sessions with the same id, and no other session", async ({ api, provider, service }) => {
    const client = new GrpcClient(service.target);
    const say = async (sessionId: string): Promise<string> => {
      provider.respond(answer(secret));
      await api.createSession({ sessionId, agent: { name: "tester" } });
      const { run_id: runId } = await api.sendMessage({ sessionId, message: "say it" });
      await readSession(api, sessionId);
      return runId;
    };
    const first = await say("twice");
    await api.deleteSession("twice");
    const second = await say("twice");
    const other = await say("other");
    expect(await client.call(purgeSession, { sessionId: "twice" })).toMatchObject({ runs: 2 });
    expect(await api.getRun(first)).not.toHaveProperty("output");
    expect(await api.getRun(second)).not.toHaveProperty("output");
    expect(await api.getRun(other)).toMatchObject({ output: secret });
    expect(await api.getSession("other")).toMatchObject({ output: secret });
  });

  test("that was interrupted anywhere is finished by the next one", async ({ stage }) => {
    const { databaseUrl, target } = stage.service;
    const { sessionId, runIds } = await tellSecrets(stage, secret);
    const client = new GrpcClient(target);
    const log = "select payload from run_result order by run_id, sequence";
    const before = await query<{ payload: Buffer }>(databaseUrl, log);
    // The trigger lets the update of the second run fail: the purge ends there, with the first run done.
    await query(
      databaseUrl,
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
       create trigger refuse before update on run for each row when (new.id = '${runIds[1]}') execute function refuse()`,
    );
    await expect(client.call(purgeSession, { sessionId })).rejects.toMatchObject({ code: status.INTERNAL });
    expect((await findInTables(databaseUrl, secret)).length).toBeGreaterThan(0);
    await query(databaseUrl, "drop trigger refuse on run");
    await client.call(purgeSession, { sessionId });
    expect(await findInTables(databaseUrl, secret)).toEqual([]);
    const rows = await query<{ payload: Buffer }>(databaseUrl, log);
    const hashes = rows.map(({ payload }) => decodeResult(payload).purgedSha256);
    expect(hashes).toEqual(before.map(({ payload }) => createHash("sha256").update(payload).digest("hex")));
  });

  test("that is requested several times at once counts every entry once", async ({ stage }) => {
    const { sessionId } = await tellSecrets(stage, secret);
    const [row] = await query<{ count: string }>(stage.service.databaseUrl, "select count(*) from run_result");
    const clients = Array.from({ length: 4 }, () => new GrpcClient(stage.service.target));
    const purged = await Promise.all(clients.map((client) => client.call(purgeSession, { sessionId })));
    expect(purged.reduce((sum, { results }) => sum + results, 0n)).toBe(BigInt(row?.count ?? -1));
  });

  test("is refused while a run is active, and changes nothing", async ({ api, provider, service }) => {
    const client = new GrpcClient(service.target);
    const gate = Promise.withResolvers<void>();
    provider.respond(async (wire) => {
      wire.text(secret);
      await gate.promise;
      wire.done("stop");
    });
    const { sessionId, runId } = await startConversation(api);
    await expect(client.call(purgeSession, { sessionId })).rejects.toMatchObject({
      details: "session has an active run: cancel it, and purge when it has ended",
    });
    expect(await api.getSession(sessionId)).toMatchObject({ status: "running" });
    gate.resolve();
    await readSession(api, sessionId);
    expect(await api.getRun(runId)).toMatchObject({ output: secret });
    expect(await client.call(purgeSession, { sessionId })).toMatchObject({ runs: 1 });
  });

  test("is for the session's client only: other clients get NOT_FOUND, as for unknown ids", async () => {
    const { api, service } = await setStage(grpc);
    const { sessionId } = await startConversation(api);
    await readSession(api, sessionId);
    const refusals = await Promise.all(
      [
        new GrpcClient(service.target, credentialsOf("stranger")).call(purgeSession, { sessionId }),
        new GrpcClient(service.target).call(purgeSession, { sessionId: "unknown" }),
        new GrpcClient(service.target).call(purgeSession, { sessionId: "a\0b" }),
      ].map((call) => call.catch(({ code, details }) => ({ code, details }))),
    );
    expect(refusals).toEqual(refusals.map(() => ({ code: status.NOT_FOUND, details: "session not found" })));
    expect(await api.getSession(sessionId)).toMatchObject({ status: "completed" });
  });

  test("is a POST over REST", async ({ api, service }) => {
    const { sessionId } = await startConversation(api);
    const [{ payload } = { payload: {} }] = (await readSession(api, sessionId)).slice(-1);
    expect(payload).toMatchObject({ status: "completed" });
    const purge = (): Promise<Response> =>
      fetch(`${service.url}/v1/sessions/${sessionId}:purge`, {
        method: "POST",
        headers: { ...credentialsOf(), "content-type": "application/json" },
        body: "{}",
      });
    const first = await purge();
    expect(first.status).toBe(200);
    expect(await first.json()).toMatchObject({ runs: 1, results: expect.any(Number) });
    expect(await (await purge()).json()).toEqual({ runs: 1, results: 0 });
    const { results } = (await (
      await fetch(`${service.url}/v1/runs/${String((await api.listRuns({})).runs[0]?.run_id)}/results`, {
        headers: credentialsOf(),
      })
    ).json()) as { results: { purged_sha256: string }[] };
    expect(results.map((result) => result.purged_sha256)).toEqual(
      results.map(() => expect.stringMatching(/^[0-9a-f]{64}$/)),
    );
  });

  // A slow reader keeps the run's newest entries in the memory of its replica. A reader that comes after the purge must not get
  // them, on any replica.
  test("reaches the results that replicas keep in memory for slow readers", async ({ api, provider, service }) => {
    const replicas = [service, await startService({ databaseUrl: service.databaseUrl })];
    const listening = Promise.withResolvers<void>();
    provider.respond(async (wire) => {
      await listening.promise;
      // More than all buffers on the way to a reader hold.
      for (let piece = 0; piece < 250; piece++) {
        wire.reasoning("hm ".repeat(20_000));
      }
      wire.text(secret);
      wire.done("stop");
    });
    const { runId } = await startConversation(api);
    const leave = await Promise.all(replicas.map(({ target }) => followSlowly(new GrpcClient(target), runId)));
    listening.resolve();
    const { last_sequence: last } = await until("the run to end", async () => {
      const run = await api.getRun(runId);
      return run.state === "completed" && run;
    });
    const end = Number(last) - 1;
    const readEnd = async (each: TestService): Promise<string> =>
      JSON.stringify(await Array.fromAsync(grpc.connect(each).followRun(runId, end)));
    for (const replica of replicas) {
      await until("the other replica to hear of it", async () => (await readEnd(replica)).includes(secret));
      expect(replica.app.countReaders()).toBe(1);
    }
    const [session] = (await api.listSessions({})).sessions;
    await new GrpcClient(service.target).call(purgeSession, { sessionId: String(session?.session_id) });
    expect(await readEnd(service)).not.toContain(secret);
    await until(
      "the other replica to forget it",
      async () => !(await readEnd(replicas[1] ?? service)).includes(secret),
      1_000,
    );
    for (const each of leave) {
      each();
    }
  });
});

/** Resolves once the stream is open; from then on the client reads nothing of it. */
async function followSlowly(client: GrpcClient, runId: string): Promise<() => void> {
  const stream = client.stream(RunService.method.tailRun, { runId });
  stream.on("error", () => {});
  await new Promise((resolve) => {
    stream.once("data", (message: MessageShape<typeof RunService.method.tailRun.output>) => {
      stream.pause();
      resolve(message);
    });
  });
  return () => stream.cancel();
}
