// A tool call that is open when its run ends: the log has exactly one result of it, from the runner or from the engine.

import { expect } from "vitest";
import { expectInvariants } from "../fault/invariants.ts";
import { test } from "../fixtures.ts";
import { bind, HandWorker, readLog, type Said, start } from "./hand-worker.ts";

const begun: Said = ["tool.call.started", { tool_call_id: "c", tool_name: "look", parameters: {} }];
const completed: Said = ["tool.call.completed", { tool_call_id: "c", tool_name: "look", result: { seen: true } }];
const failed: Said = ["run.failed", { error: "no", code: "runner.error" }];
/** Ends by a transaction, because its message enters the conversation. */
const spoken: Said = ["run.completed", { message: { role: "assistant", content: "bye" } }];

test.for([
  ["its runner, with a failure", { 2: completed, 3: failed }, ""],
  ["its runner, with a message", { 2: completed, 3: spoken }, ""],
  ["the engine, for a run that fails", { 2: failed }, "interrupted: the run ended before the call did"],
] as const)("an open call is completed once by %s", async ([_name, end, error], { service, client }) => {
  const worker = new HandWorker(service.target);
  await worker.register();
  await bind(client);
  const runId = await start(client);
  const run = await worker.take();
  await worker.report(run, { 1: begun });
  await worker.report(run, end);
  const payloads = (await readLog(client, runId)).map(({ payload }) => payload);
  const results = payloads.flatMap((payload) => (payload.case === "toolCallCompleted" ? [payload.value] : []));
  expect(results.map((result) => [result.toolCallId, result.error ?? ""])).toEqual([["c", error]]);
  await expectInvariants(service.databaseUrl);
});
