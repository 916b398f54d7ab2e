// The calls of models of a run, as they were: kept only when the settings say so, without secrets, for the client of the run alone.

import { describe, expect } from "vitest";
import { RunService, type TailRunResponse } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { modelCallRetention } from "../../src/agent/model-calls/retention.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { modelFlags } from "../conformance/stage.ts";
import { answer, callTools, hangAfter, type Script } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { test as base, openProvider } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { connect } from "../runlog/store.ts";

const test = base;
const { createSession, sendMessage, deleteSession, purgeSession } = SessionService.method;
const { listModelCalls, tailRun, deleteRun } = RunService.method;

const keyOfProvider = "sk-test-key-of-the-provider";
const usual = { keepModelCalls: true, openaiKey: keyOfProvider } as const;

async function openStage(flags: Partial<Config> = usual) {
  const provider = await openProvider();
  const service = await startService({ ...modelFlags(provider), ...flags });
  const client = new GrpcClient(service.target);
  const start = async (message: string, agent: object, ...scripts: readonly Script[]) => {
    provider.respond(...scripts);
    const { sessionId } = await client.call(createSession, { agent: { name: "caller", ...agent } });
    const { runId } = await client.call(sendMessage, { sessionId, message });
    await Array.fromAsync(client.stream(tailRun, { runId }));
    return { sessionId, runId };
  };
  const countRows = async (): Promise<number> =>
    (await query<{ count: number }>(service.databaseUrl, "select count(*)::int as count from model_call"))[0]?.count ??
    -1;
  return { provider, service, client, start, countRows };
}

const listing = { tools: { builtin: ["list_dir"] } };
const callList = callTools({ id: "c1", name: "list_dir", arguments: "{}" });

test("nothing is kept by default", async () => {
  const { client, start, countRows } = await openStage({});
  const { runId } = await start("hello", {}, answer("hi"));
  expect(await client.call(listModelCalls, { runId })).toMatchObject({ modelCalls: [], nextPageToken: "" });
  expect(await countRows()).toBe(0);
});

test("each call has the body as it was sent and the answer as it came, failed attempts too", async () => {
  const { provider, service, client, start } = await openStage();
  const { runId } = await start(
    "say <é>",
    listing,
    fail(500, '{"error":{"message":"broken"}}'),
    callList,
    answer("done é"),
  );
  const { modelCalls } = await client.call(listModelCalls, { runId });
  expect(modelCalls.map(({ turn, status, error }) => [turn, status, error])).toEqual([
    [1, 500, expect.stringContaining("broken")],
    [1, 200, ""],
    [2, 200, ""],
  ]);
  const sent = await Promise.all([0, 1, 2].map((index) => provider.request(index)));
  expect(modelCalls.map(({ request }) => request)).toEqual(sent.map(({ text }) => text));
  expect(modelCalls.map(({ requestSizeBytes }) => Number(requestSizeBytes))).toEqual(
    sent.map(({ text }) => Buffer.byteLength(text)),
  );
  expect(modelCalls[0]?.answer).toBe('{"error":{"message":"broken"}}');
  expect(modelCalls[2]?.answer).toMatch(/^data: \{.*"content":"done é".*\n\n.*data: \[DONE\]\n\n$/s);
  expect(modelCalls[2]).toMatchObject({
    ...{ provider: "openai", model: "gpt-4o-mini", path: "/chat/completions", requestCut: false, answerCut: false },
    requestHeaders: "content-type: application/json\naccept: text/event-stream",
  });
  const ofTurn = await client.call(listModelCalls, { runId, turn: 2 });
  expect(ofTurn.modelCalls).toEqual(modelCalls.slice(2));
  const read = [];
  for (let pageToken = ""; read.length === 0 || pageToken !== ""; ) {
    const page = await client.call(listModelCalls, { runId, pageSize: 1, pageToken });
    read.push(...page.modelCalls);
    pageToken = page.nextPageToken;
  }
  expect(read).toEqual(modelCalls);
  const response = await fetch(`${service.url}/v1/runs/${runId}/model-calls?turn=2`, { headers: credentialsOf() });
  expect(await response.json()).toMatchObject({
    model_calls: [{ turn: 2, status: 200, answer: modelCalls[2]?.answer }],
  });
});

test("no secret is kept: of the settings, of a server that the provider connects to, or of the person", async () => {
  const secrets = [keyOfProvider, "sk-another-key-of-a-person", "token-of-a-server-4711", "value-of-a-header-4711"];
  const [, ofPerson, ofServer, ofHeader] = secrets;
  const tool = {
    type: "mcp",
    server_url: "https://mcp.example",
    authorization: ofServer,
    headers: { "X-Any": ofHeader },
  };
  const { client, start, service } = await openStage({ ...usual, openaiApi: "responses" });
  const { runId } = await start(
    `my key is ${ofPerson}`,
    { tools: { provider: [{ provider: "openai", tool: JSON.stringify(tool) }] } },
    fail(401, `{"error":{"message":"Incorrect API key provided: ${keyOfProvider}"}}`),
  );
  const { modelCalls } = await client.call(listModelCalls, { runId });
  expect(modelCalls).toHaveLength(1);
  expect(modelCalls[0]?.request).toContain("mcp.example");
  expect(modelCalls[0]?.request).toContain("my key is [redacted]");
  expect(modelCalls[0]?.answer).toContain("Incorrect API key provided: [redacted]");
  const rows = await query<{ text: string }>(service.databaseUrl, "select model_call::text as text from model_call");
  for (const secret of secrets) {
    expect(JSON.stringify(rows)).not.toContain(secret);
  }
});

test("a long body and a long answer are cut in whole characters, and say how long they were", async () => {
  const { provider, client, start } = await openStage({ ...usual, keptCallBytes: 1_024 });
  const { runId } = await start("é".repeat(20_000), {}, answer("ü".repeat(20_000)));
  const [call] = (await client.call(listModelCalls, { runId })).modelCalls;
  const sent = await provider.request(0);
  expect(call).toMatchObject({
    requestCut: true,
    requestSizeBytes: BigInt(Buffer.byteLength(sent.text)),
    answerCut: true,
  });
  expect(sent.text.startsWith(call?.request ?? "?")).toBe(true);
  for (const text of [call?.request ?? "", call?.answer ?? ""]) {
    expect(Buffer.byteLength(text)).toBeGreaterThan(1_020);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_024);
    expect(text).not.toContain("\ufffd");
  }
  expect(Number(call?.answerSizeBytes)).toBeGreaterThan(40_000);
});

test("the calls of a cancelled run are kept as far as they came", async () => {
  const { provider, client } = await openStage();
  provider.respond(hangAfter("first "));
  const { sessionId } = await client.call(createSession, { agent: { name: "caller" } });
  const { runId } = await client.call(sendMessage, { sessionId, message: "hello" });
  const log: AsyncIterable<TailRunResponse> = client.stream(tailRun, { runId });
  for await (const { results } of log) {
    if (results.some(({ payload }) => payload.case === "messageDelta")) {
      await client.call(RunService.method.cancelRun, { runId });
    }
  }
  const { modelCalls } = await client.call(listModelCalls, { runId });
  expect(modelCalls.map(({ answer }) => answer)).toEqual([expect.stringContaining("first ")]);
});

describe("the calls of a run", () => {
  test("are those of its client alone, and go with the run", async () => {
    const { client, start, service } = await openStage();
    const { runId } = await start("hello", {}, answer("hi"));
    const stranger = new GrpcClient(service.target, credentialsOf("stranger"));
    await expect(stranger.call(listModelCalls, { runId })).rejects.toMatchObject({ code: 5 });
    await client.call(deleteRun, { runId });
    await expect(client.call(listModelCalls, { runId })).rejects.toMatchObject({ code: 5 });
  });

  test("are deleted by a purge of the session, and no others", async () => {
    const { client, start, countRows } = await openStage();
    const { sessionId } = await start("hello", {}, answer("hi"));
    const other = await start("hello", {}, answer("hi"));
    await client.call(purgeSession, { sessionId });
    expect(await countRows()).toBe(1);
    expect((await client.call(listModelCalls, { runId: other.runId })).modelCalls).toHaveLength(1);
    await client.call(deleteSession, { sessionId: other.sessionId });
  });

  test("are deleted with their runs, and after the retention of logs", async () => {
    const { start, service, countRows } = await openStage();
    const { runId } = await start("hello", listing, callList, answer("hi"));
    await start("hello", {}, answer("hi"));
    const { db } = connect(service.databaseUrl);
    await modelCallRetention.deleteOfRuns?.(db, [runId]);
    expect(await countRows()).toBe(1);
    const [rows] = modelCallRetention.expiring ?? [];
    expect(rows?.days).toBe("logs");
    const [{ id } = { id: "" }] = await query<{ id: string }>(service.databaseUrl, "select id from model_call");
    expect(await rows?.deleteBatch(db, { createdBefore: id, limit: 10 })).toBe(0);
    const later = "ffffffff-ffff-7fff-8fff-ffffffffffff";
    expect(await rows?.deleteBatch(db, { createdBefore: later, limit: 10 })).toBe(1);
  });
});
