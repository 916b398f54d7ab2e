// Acceptance cases that need the full path: an event, a worker driven by the test, its host and its client. The numbers are
// those of the list of cases; cases of single rules are tested next to the rules.

import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import type { ServiceError } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { StatusSchema } from "#gen/google/rpc/status_pb.js";
import { ApiErrorSchema } from "#gen/runnel/host/v1/host_api_pb.js";
import { HostArtifactService } from "#gen/runnel/host/v1/host_artifact_service_pb.js";
import { HostHistoryService } from "#gen/runnel/host/v1/host_history_service_pb.js";
import { HostKnowledgeService } from "#gen/runnel/host/v1/host_knowledge_service_pb.js";
import { HostStorageService } from "#gen/runnel/host/v1/host_storage_service_pb.js";
import { HostToolService } from "#gen/runnel/host/v1/host_tool_service_pb.js";
import { KnowledgeService } from "#gen/runnel/runner/v1/knowledge_service_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { RunnerWorkerService } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { reasonOf } from "../harness/grpc.ts";
import { createMovedClock, type MovedClock } from "../harness/moved-clock.ts";
import { until } from "../harness/wait.ts";
import { dispositions, done, getRun, HandWorker, hello, openWorkerStage, readLog, start } from "./hand-worker.ts";

const { getTool } = HostToolService.method;
const { getState } = HostStorageService.method;
const { pageHistory } = HostHistoryService.method;
const { getArtifact, readArtifact } = HostArtifactService.method;

const openStage = (binding: object = {}, clock?: MovedClock) => openWorkerStage({ binding, clock });

/** The host's error code of a call that must fail. */
async function codeOf(call: Promise<unknown>): Promise<string | undefined> {
  const error = await call.then(
    () => undefined,
    (refusal: ServiceError) => refusal,
  );
  const [bytes] = error?.metadata.get("grpc-status-details-bin") ?? [];
  const details = bytes instanceof Buffer ? fromBinary(StatusSchema, bytes).details : [];
  return details.map((any) => anyUnpack(any, ApiErrorSchema)).find((found) => found !== undefined)?.code;
}

test("only a knowledge base that a selector of the configuration names is granted", async () => {
  const { client, worker, hostOf } = await openStage({ runnerConfig: '{"manuals":["chosen","__none__"]}' });
  await worker.register("by-hand", { config_schema: [{ type: "knowledge-base-multi-selector", name: "manuals" }] });
  for (const kbId of ["chosen", "other"]) {
    await client.call(KnowledgeService.method.putKnowledgeBase, { knowledgeBase: { kbId, name: kbId } });
    const entries = [{ entryId: "e-1", content: `the ${kbId} one`, metadata: "{}" }];
    await client.call(KnowledgeService.method.putKnowledgeEntries, { kbId, entries });
  }
  await start(client);
  const run = await worker.take();
  expect(run.context?.resources?.knowledgeBases).toMatchObject([
    { kbId: "chosen", kbName: "chosen", operations: ["list", "retrieve"] },
  ]);
  const find = (kbId: string) =>
    hostOf(run).call(HostKnowledgeService.method.retrieveKnowledge, { runId: run.runId, kbId, queryText: "one" });
  expect((await find("chosen")).results).toEqual([expect.stringContaining("the chosen one")]);
  expect(await codeOf(find("other"))).toBe("unauthorized");
});

test("28: changes that a runner makes to its context grant nothing", async () => {
  const { client, worker, hostOf } = await openStage();
  await start(client);
  const run = await worker.take();
  const context = JSON.parse(run.contextJson);
  context.resources.tools.push({ tool_name: "bash", operations: ["detail", "call"] });
  await worker.report(run, { 1: ["state.updated", { scope: "conversation", key: "context", value: context }] });
  expect(await codeOf(hostOf(run).call(getTool, { runId: run.runId, toolName: "bash" }))).toBe("unauthorized");
});

test.each([0, -1, 2 ** 31])("47: a result with the sequence number %i refuses the whole report", async (sequence) => {
  const { client, worker } = await openStage();
  const runId = await start(client);
  const run = await worker.take();
  expect(await worker.report(run, { 1: hello, [sequence]: hello }).catch(reasonOf)).toBe("INVALID_ARGUMENT");
  expect((await client.call(RunService.method.listRunResults, { runId })).results).toEqual([]);
  expect(dispositions(await worker.report(run, { 1: hello }))).toEqual(["APPLIED"]);
});

test("84 and 86: state stays after the run fails, with every number as it was written", async () => {
  const { client, worker, hostOf } = await openStage();
  await start(client);
  const first = await worker.take();
  const value = '{"n":9007199254740993,"one":1.0}';
  await worker.client.call(RunnerWorkerService.method.reportResults, {
    runId: first.runId,
    attempt: first.attempt,
    runToken: first.runToken,
    results: [
      { sequence: 1n, type: "state.updated", data: `{"scope":"conversation","key":"k","value":${value}}` },
      { sequence: 2n, type: "run.failed", data: '{"error":"sorry"}' },
    ],
  });
  await start(client);
  const second = await worker.take();
  const found = await hostOf(second).call(getState, { runId: second.runId, scope: "conversation", key: "k" });
  expect(found).toMatchObject({ found: true, value });
  expect(second.contextJson).toContain(value);
});

test("90: the first run to use an artifact id owns it; repeating it changes nothing, and other content is dropped", async () => {
  const { client, worker, hostOf } = await openStage();
  await start(client, { conversationId: "a" });
  await start(client, { conversationId: "b" });
  const [one, other] = [await worker.take(), await worker.take()];
  const artifact = (content: string) =>
    [
      "artifact.created",
      { artifact_type: "text", artifact_id: "notes", content_base64: Buffer.from(content).toString("base64") },
    ] as const;
  const answer = await worker.report(one, { 1: artifact("mine"), 2: artifact("mine"), 3: artifact("else") });
  expect(dispositions(answer).slice(0, 2)).toEqual(["APPLIED", "APPLIED"]);
  expect(dispositions(answer)[2]).toMatch(/^DROPPED_INVALID: conflict/);
  const foreign = dispositions(await worker.report(other, { 1: artifact("mine") }));
  expect(foreign).toEqual([expect.stringMatching(/^DROPPED_INVALID: conflict: .* is in use/)]);
  const asked = { runId: other.runId, artifactId: "notes" };
  expect(await codeOf(hostOf(other).call(getArtifact, asked))).toBe("not_found");
  const pieces = [];
  for await (const piece of hostOf(one).stream(readArtifact, { runId: one.runId, artifactId: "notes" })) {
    pieces.push(Buffer.from(piece.content).toString());
  }
  expect(pieces).toEqual(["mine"]);
});

test("messages of a run are in the conversation's history for the next run", async () => {
  const { client, worker, hostOf } = await openStage();
  await start(client, { input: { text: "first question" } });
  const first = await worker.take();
  expect(JSON.parse(first.contextJson).context).toMatchObject({ has_history_before: false });
  await worker.report(first, {
    1: ["message.completed", { message: { role: "assistant", content: "first answer", name: null } }],
    2: [
      "run.completed",
      { finish_reason: "stop", message: { role: "assistant", content: "first answer", name: null } },
    ],
  });
  await start(client, { input: { text: "second question" } });
  const second = await worker.take();
  expect(JSON.parse(second.contextJson).context).toMatchObject({
    has_history_before: true,
    inline_policy: { mode: "current_event" },
  });
  const { items } = await hostOf(second).call(pageHistory, { runId: second.runId });
  expect(items.map(({ role, content }) => [role, content])).toEqual([
    ["user", "first question"],
    ["assistant", "first answer"],
    ["user", "second question"],
  ]);
  expect(JSON.parse(items[1]?.contentJson ?? "")).toEqual({ role: "assistant", content: "first answer", name: null });
});

test("110: a runner that ignores a cancel is cut off after the grace period, and its later results are ignored", async () => {
  const clock = createMovedClock();
  const { client, worker } = await openStage({}, clock);
  const runId = await start(client);
  const run = await worker.take();
  await client.call(RunService.method.cancelRun, { runId });
  await until("the cancel", async () => (await worker.report(run)).cancelRequested);
  await worker.report(run, { 1: hello });
  clock.advance(9_000);
  expect((await worker.report(run, { 2: hello })).ended).toBe(false);
  clock.advance(2_000);
  const log = await readLog(client, runId);
  expect(log.map(({ payload }) => payload.case)).toEqual(["messageDelta", "messageDelta", "runFailed"]);
  expect(await getRun(client, runId)).toMatchObject({ state: Run_State.CANCELLED, output: "hellohello" });
  const late = await worker.report(run, { 3: hello, 4: done });
  expect(late.ended).toBe(true);
  expect(dispositions(late)).toEqual(["IGNORED_AFTER_TERMINAL", "IGNORED_AFTER_TERMINAL"]);
});

test("a deleted runner takes no more events, and another worker may register its id", async () => {
  const { client, target } = await openStage();
  const another = new HandWorker(target);
  await expect(another.register("another")).rejects.toThrow("another worker_id registered this id");
  await client.call(RunnerService.method.deleteRunner, { author: "tests", name: "bench", runner: "echo" });
  expect(await start(client).catch(reasonOf)).toBe("RUNNER_NOT_FOUND");
  await another.register("another");
  const runId = await start(client);
  expect((await another.take()).runId).toBe(runId);
});
