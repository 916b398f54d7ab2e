// kill -9 of the only process, at each phase of a run but its text (`kill`). Results that a reader has seen stay unchanged, and a new
// process on the same database continues the same run.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { answer, callTools, hangAfter } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { until } from "../harness/wait.ts";
import { getRun, openCluster, openProvider, startRun } from "./cluster.ts";
import { holdToolOutcomes } from "./gate.ts";
import { expectInvariants } from "./invariants.ts";
import { expectStored, LogReader, textOf } from "./log-reader.ts";

/** Kills the process while the outcomes of its tools wait to be written, and reads the run to its end at the next one. */
async function killAtOutcomes(environment: Record<string, string>, tools: object, announced: number) {
  const cluster = await openCluster(environment);
  const first = await cluster.start();
  const gate = await holdToolOutcomes(cluster.databaseUrl);
  const { runId } = await startRun(first.client, "go", { name: "fault", tools });
  const reader = new LogReader(runId);
  const following = reader.follow(first.client);
  await until("the calls to be announced", () => reader.count("toolCallStarted") === announced);
  await gate.reached();
  await first.kill();
  await gate.open();
  expect(await following).toBe(status.UNAVAILABLE);
  expect(reader.count("toolCallCompleted")).toBe(0);
  const second = await cluster.startHere();
  expect(await reader.follow(second.client)).toBe(status.OK);
  await expectStored(cluster.databaseUrl, runId, reader.results);
  await expectInvariants(cluster.databaseUrl);
  return reader;
}

// The process dies while it records what a tool returned: the calls are announced, and no outcome is durable. The next
// process must not announce them or call the model again. Each call has to get one result, in the order of the calls.
test("tool calls that were running at a kill get one result each", async () => {
  const { provider, environment } = await openProvider();
  provider.respond(
    callTools({ id: "one", name: "list_dir", arguments: "{}" }, { id: "two", name: "list_dir", arguments: "{}" }),
    answer("both listed"),
  );
  const reader = await killAtOutcomes(environment, { builtin: ["list_dir"] }, 2);
  expect(reader.count("toolCallStarted")).toBe(2);
  const ended = reader.results.flatMap(({ payload }) =>
    payload.case === "toolCallCompleted" ? [payload.value.toolCallId] : [],
  );
  expect(ended).toEqual(["one", "two"]);
  expect(reader.results.at(-1)?.payload.case).toBe("runCompleted");
  expect(provider.requests).toHaveLength(2);
});

// The model calls a tool of the service and a function of the caller at once, and the process dies while the tool runs. The
// other process finishes the tool, ends the run with the function's call, and the model is not asked again.
test("a kill beside a caller's function loses no call", async () => {
  const { provider, environment } = await openProvider();
  provider.respond(
    callTools({ id: "one", name: "list_dir", arguments: "{}" }, { id: "two", name: "get_weather", arguments: "{}" }),
  );
  const tools = { builtin: ["list_dir"], functions: [{ name: "get_weather" }] };
  const reader = await killAtOutcomes(environment, tools, 1);
  expect(reader.count("toolCallCompleted")).toBe(1);
  const end = reader.results.at(-1)?.payload;
  expect(end).toMatchObject({ case: "runCompleted", value: { finishReason: "tool-calls" } });
  expect(end?.case === "runCompleted" && end.value.pendingToolCalls.map(({ id }) => id)).toEqual(["two"]);
  expect(provider.requests).toHaveLength(1);
});

// The process dies in the second turn, after the tools of the first are done. Only the second turn is void: the model is
// called again with what the tools returned, and no tool runs again.
test("a kill in the second turn repeats only that turn", async () => {
  const { provider, environment } = await openProvider();
  provider.respond(
    callTools({ id: "one", name: "list_dir", arguments: "{}" }),
    hangAfter("half of a "),
    answer("a whole answer"),
  );
  const cluster = await openCluster(environment);
  const first = await cluster.start();
  const { runId } = await startRun(first.client, "list", { name: "fault", tools: { builtin: ["list_dir"] } });
  const reader = new LogReader(runId);
  const following = reader.follow(first.client);
  await until("the half answer", () => reader.count("messageDelta") === 1);
  await first.kill();
  expect(await following).toBe(status.UNAVAILABLE);

  const second = await cluster.startHere();
  expect(await reader.follow(second.client)).toBe(status.OK);
  const secondTurn = reader.results.findIndex(
    ({ payload }) => payload.case === "turnStarted" && payload.value.turn === 2,
  );
  const restarts = reader.results.flatMap(({ payload }) => (payload.case === "turnRestarted" ? [payload.value] : []));
  expect(restarts).toMatchObject([{ turn: 2, fromSequence: BigInt(secondTurn + 1) }]);
  expect(reader.count("toolCallStarted")).toBe(1);
  expect(reader.count("toolCallCompleted")).toBe(1);
  expect(textOf(reader.results)).toBe("a whole answer");
  const repeated = provider.requests[2]?.body.messages.map(({ role }) => role);
  expect(repeated).toEqual(provider.requests[1]?.body.messages.map(({ role }) => role));
  await expectStored(cluster.databaseUrl, runId, reader.results);
  await expectInvariants(cluster.databaseUrl);
});

// The provider asks for a pause and the run is parked: no process holds it. Then the only process dies. Only the timer is
// lost with it, so the next process wakes the run at the promised time.
test("a parked run survives a kill and wakes at its time", async () => {
  const { provider, environment } = await openProvider();
  provider.respond(fail(429, '{"error":{"message":"slow down"}}', { "retry-after": "8" }), answer("rested"));
  const cluster = await openCluster(environment);
  const first = await cluster.start();
  const { runId } = await startRun(first.client, "go");
  const reader = new LogReader(runId);
  const following = reader.follow(first.client);
  await until("the run to wait", async () => (await getRun(first.client, runId)).state === Run_State.WAITING);
  await until("the reader to hear of it", () => reader.count("runWaiting") === 1);
  await first.kill();
  expect(await following).toBe(status.UNAVAILABLE);
  await expectInvariants(cluster.databaseUrl);

  const second = await cluster.startHere();
  expect(await reader.follow(second.client)).toBe(status.OK);
  expect(await getRun(second.client, runId)).toMatchObject({
    state: Run_State.COMPLETED,
    output: "rested",
    takeovers: 0,
  });
  expect(reader.count("turnRestarted")).toBe(0);
  const waiting = reader.results.find(({ payload }) => payload.case === "runWaiting");
  const wakeTime = waiting?.payload.case === "runWaiting" ? waiting.payload.value.wakeTime : undefined;
  expect(Number(reader.results.at(-1)?.createTime?.seconds)).toBeGreaterThanOrEqual(Number(wakeTime?.seconds));
  await expectStored(cluster.databaseUrl, runId, reader.results);
  await expectInvariants(cluster.databaseUrl);
});
