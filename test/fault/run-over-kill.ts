// A run whose process dies by kill -9 at a named place, and which another service ends.

import { status } from "@grpc/grpc-js";
import { expect } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { expectFolds } from "../ag-ui/verify-folds.ts";
import type { Script } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { type Agent, openCluster, openProvider } from "./cluster.ts";
import { isAlive } from "./crash-matrix/crew.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader } from "./log-reader.ts";

/**
 * Runs an agent over the kill. `place` names a failpoint and a pass. Returns the whole log, and the database.
 */
export async function killAt(
  place: string,
  agent: Agent,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly reader: LogReader; readonly databaseUrl: string }> {
  const cluster = await openCluster(environment);
  const first = await cluster.start({ RUNNEL_FAILPOINT: place });
  const { sessionId } = await first.client.call(SessionService.method.createSession, { agent });
  // The process may die before it has answered.
  const message = { sessionId, message: "go", requestId: "once" };
  await first.client.call(SessionService.method.sendMessage, message).catch(() => undefined);
  await until("the kill", () => !isAlive(first));
  const second = await cluster.startHere();
  const { runId } = await second.client.call(SessionService.method.sendMessage, message);
  const reader = new LogReader(runId);
  expect(await reader.follow(second.client)).toBe(status.OK);
  await expectFolds(reader.results);
  await expectInvariants(cluster.databaseUrl);
  return { reader, databaseUrl: cluster.databaseUrl };
}

/** Runs an agent with a built-in tool over the kill. Returns the whole log, and the number of requests that the provider got. */
export async function runOverKill(
  place: string,
  tool: string,
  scripts: readonly Script[],
): Promise<{ reader: LogReader; requests: number }> {
  const { provider, environment } = await openProvider();
  provider.respond(...scripts);
  const { reader } = await killAt(place, { name: "fault", tools: { builtin: [tool] } }, environment);
  return { reader, requests: provider.requests.length };
}
