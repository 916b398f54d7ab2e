// Models, tools and knowledge as a runner calls them: over gRPC, with the token of its run.

import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import type { ServiceError } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { StatusSchema } from "#gen/google/rpc/status_pb.js";
import { type ApiError, ApiErrorSchema } from "#gen/runnel/host/v1/host_api_pb.js";
import { HostKnowledgeService } from "#gen/runnel/host/v1/host_knowledge_service_pb.js";
import { HostModelService } from "#gen/runnel/host/v1/host_model_service_pb.js";
import { HostToolService } from "#gen/runnel/host/v1/host_tool_service_pb.js";
import { KnowledgeService } from "#gen/runnel/runner/v1/knowledge_service_pb.js";
import { RunTokens } from "../../src/platform/auth/run-token.ts";
import { loadSecret } from "../../src/platform/auth/storage/secret.ts";
import { insertRemoteRun } from "../../src/protocols/langbot/storage/remote-run.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { addReplica, addRun, connect } from "../runlog/store.ts";
import { nothingGranted, runnerId } from "./thinking-stage.ts";

const { invokeModel, invokeModelStream, countTokens } = HostModelService.method;
const { getTool, callTool } = HostToolService.method;
const { retrieveKnowledge } = HostKnowledgeService.method;
const { putKnowledgeBase, putKnowledgeEntries } = KnowledgeService.method;
const messages = ['{"role":"user","content":"words=5 pace=0"}'];

async function openStage() {
  const service = await startService({ hostModelCalls: 2 });
  const owner = new GrpcClient(service.target);
  await owner.call(putKnowledgeBase, { knowledgeBase: { kbId: "manual" } });
  await owner.call(putKnowledgeEntries, { kbId: "manual", entries: [{ entryId: "a", content: "red pump" }] });
  const { db } = connect(service.databaseUrl);
  const base = await db.selectFrom("knowledge_base").select("client").executeTakeFirstOrThrow();
  const { client } = base;
  // Another replica owns it.
  const run = await addRun(db, { client, owner: await addReplica(db) });
  const scope = { client, runnerId, bindingId: "b", eventId: "e" };
  const granted = {
    ...nothingGranted,
    models: { demo: ["invoke", "stream", "count_tokens"], "gpt-of-yesterday": ["invoke", "stream"] },
    tools: { read_file: ["detail", "call"], write_file: ["call"] },
    knowledgeBases: { manual: ["retrieve"] },
  };
  const row = {
    runId: run.id,
    client,
    runnerId,
    bindingId: "b",
    era: "spec",
    scope,
    granted,
    context: Buffer.of(),
    address: undefined,
  };
  await db.transaction().execute((trx) => insertRemoteRun(trx, row));
  await db.updateTable("remote_run").set({ attempt: 1 }).execute();
  const token = new RunTokens(await loadSecret(db, "run token")).make({ runId: run.id, attempt: 1 });
  return { runner: new GrpcClient(service.target, { authorization: `Bearer ${token}` }), runId: run.id, db };
}

async function apiErrorOf(call: Promise<unknown>): Promise<ApiError | undefined> {
  const error = await call.then(
    () => undefined,
    (refusal: ServiceError) => refusal,
  );
  const [bytes] = error?.metadata.get("grpc-status-details-bin") ?? [];
  const details = bytes instanceof Buffer ? fromBinary(StatusSchema, bytes).details : [];
  return details.map((any) => anyUnpack(any, ApiErrorSchema)).find((found) => found !== undefined);
}

test("a runner gets whole and streamed answers of a model, until its run has no calls left", async () => {
  const { runner, runId } = await openStage();
  const whole = await runner.call(invokeModel, { runId, modelId: "demo", messages });
  expect(JSON.parse(whole.message)).toMatchObject({ role: "assistant", content: expect.stringMatching(/\w/) });
  expect(whole.usage?.completionTokens).toBe(5n);
  const pieces = await Array.fromAsync(runner.stream(invokeModelStream, { runId, modelId: "demo", messages }));
  const chunks = pieces.slice(0, -1).map(({ chunk = "" }) => JSON.parse(chunk));
  expect(chunks.map(({ content }) => content).join("")).toBe(JSON.parse(whole.message).content);
  expect(chunks.at(-1)).toMatchObject({ is_final: true });
  expect(pieces.at(-1)).toMatchObject({ usage: { completionTokens: 5n } });
  expect(await apiErrorOf(runner.call(invokeModel, { runId, modelId: "demo", messages }))).toMatchObject({
    code: "rate_limited",
    retryable: false,
    message: "the run has reached its maximum of model calls (2)",
  });
  expect((await runner.call(countTokens, { runId, modelId: "demo", messages })).tokens).toBe(4n);
});

test("a model that was granted and is no longer configured is not found", async () => {
  const { runner, runId } = await openStage();
  const request = { runId, modelId: "gpt-of-yesterday", messages };
  const notFound = { code: "not_found", retryable: false, message: expect.stringContaining("gpt-of-yesterday") };
  expect(await apiErrorOf(runner.call(invokeModel, request))).toMatchObject(notFound);
  expect(await apiErrorOf(Array.fromAsync(runner.stream(invokeModelStream, request)))).toMatchObject(notFound);
});

test("a runner reads and calls a tool, and a failing tool gives a runtime error", async () => {
  const { runner, runId } = await openStage();
  const { tool } = await runner.call(getTool, { runId, toolName: "read_file" });
  expect(JSON.parse(tool)).toMatchObject({ name: "read_file", parameters: { type: "object" } });
  const parameters = '{"file_path":"note.txt","content":"kept"}';
  await runner.call(callTool, { runId, toolName: "write_file", parameters });
  const { result } = await runner.call(callTool, { runId, toolName: "read_file", parameters });
  expect(JSON.parse(result)).toEqual({ content: expect.stringContaining("kept") });
  const failing = runner.call(callTool, { runId, toolName: "read_file", parameters: '{"file_path":"gone.txt"}' });
  expect(await apiErrorOf(failing)).toMatchObject({ code: "runtime_error", retryable: false });
  const bad = runner.call(callTool, { runId, toolName: "read_file", parameters: "[" });
  expect(await apiErrorOf(bad)).toMatchObject({ code: "invalid_argument", retryable: false });
  const refused = runner.call(callTool, { runId, toolName: "bash", parameters: "{}" });
  expect(await apiErrorOf(refused)).toMatchObject({ code: "unauthorized", retryable: false });
});

test("a runner finds the entries that its client has put into a knowledge base", async () => {
  const { runner, runId } = await openStage();
  const { results } = await runner.call(retrieveKnowledge, { runId, kbId: "manual", queryText: "pump?" });
  expect(results.map((result) => JSON.parse(result))).toMatchObject([{ id: "a", content: "red pump", metadata: {} }]);
});

test.each([
  ["shall be cancelled", { cancel_request_time: new Date() }, "run is being cancelled"],
  ["has ended", { status: "completed", owner: null, end_time: new Date() }, "run is not active"],
] as const)("a model call ends when its run %s", async (_, change, message) => {
  const { runner, runId, db } = await openStage();
  const endless = ['{"role":"user","content":"words=10000 pace=50"}'];
  const stream = runner.stream(invokeModelStream, { runId, modelId: "demo", messages: endless });
  const over = apiErrorOf(Array.fromAsync(stream));
  const whole = apiErrorOf(runner.call(invokeModel, { runId, modelId: "demo", messages: endless }));
  // Both are counted before they are made.
  await until("the calls", async () => {
    const row = await db.selectFrom("remote_run").select("model_calls").executeTakeFirst();
    return row?.model_calls === 2;
  });
  await db.updateTable("run").set(change).execute();
  for (const error of [await over, await whole]) {
    expect(error).toMatchObject({ code: "unauthorized", message });
  }
});
