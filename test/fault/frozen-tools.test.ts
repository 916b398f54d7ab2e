// A process freezes between the note that a tool is called and the call itself, and thaws after another process has reported
// to the model that the call was interrupted.

import { expect, onTestFinished, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { filesBelow } from "../exchanges/execute/stage.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { Area } from "../tools/area.ts";
import { getRun, openCluster, openProvider } from "./cluster.ts";
import { comeBack, isFrozen, thaw } from "./crash-matrix/freeze.ts";
import { holdLeases } from "./held-leases.ts";
import { expectInvariants } from "./invariants.ts";

test("a tool is not run by a process that thaws before it", async () => {
  const area = new Area();
  onTestFinished(() => area[Symbol.dispose]());
  area.write("notes.txt", "of a person\n");
  area.giveToSession();
  const { provider, environment } = await openProvider();
  const call = { id: "w", name: "write_file", arguments: '{"file_path":"notes.txt","content":"of the model"}' };
  provider.respond(callTools(call), answer("I could not write it."));
  // On a busy machine a lease of a second ends before the process reaches its failpoint.
  const cluster = await openCluster({ ...environment, RUNNEL_RUNS_LEASE_MS: "5000" });
  const frozen = await cluster.start({ RUNNEL_FAILPOINT: "calls.committed:1:stop" });
  const agent = { name: "fault", tools: { builtin: ["write_file"] } };
  const { createSession, sendMessage } = SessionService.method;
  const { sessionId } = await frozen.client.call(createSession, { agent, workDir: area.root });
  const { runId } = await frozen.client.call(sendMessage, { sessionId, message: "write the notes" });
  await until("the process to freeze", () => isFrozen(frozen));
  const other = await cluster.start();
  await until("the run to end elsewhere", async () => (await getRun(other.client, runId)).endTime !== undefined);

  await using leases = await holdLeases(cluster.databaseUrl);
  await thaw(frozen, [other]);
  await leases.asked();
  await leases[Symbol.asyncDispose]();
  await comeBack(frozen);
  expect(filesBelow(area.root)).toEqual({ "notes.txt": "of a person\n" });
  expect(await getRun(frozen.client, runId)).toMatchObject({ state: Run_State.COMPLETED, takeovers: 1 });
  const { results } = await frozen.client.call(RunService.method.listRunResults, { runId });
  const told = results.flatMap(({ payload }) => (payload.case === "toolCallCompleted" ? [payload.value.error] : []));
  expect(told).toEqual([expect.stringContaining("interrupted")]);
  await expectInvariants(cluster.databaseUrl);
});
