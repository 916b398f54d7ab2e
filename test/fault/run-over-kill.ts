// A run of an agent with built-in tools whose first process dies by kill -9 at a named place, and whose next one ends it.

import { status } from "@grpc/grpc-js";
import { expect } from "vitest";
import type { Script } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { openCluster, openProvider, startRun } from "./cluster.ts";
import { isAlive } from "./crash-matrix/crew.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader } from "./log-reader.ts";

/** Returns the whole log, and the number of requests that the provider got. */
export async function runOverKill(
  place: string,
  tool: string,
  scripts: readonly Script[],
): Promise<{ reader: LogReader; requests: number }> {
  const { provider, environment } = await openProvider();
  provider.respond(...scripts);
  const cluster = await openCluster(environment);
  const first = await cluster.start({ RUNNEL_FAILPOINT: place });
  const { runId } = await startRun(first.client, "go", { name: "fault", tools: { builtin: [tool] } });
  await until("the kill", () => !isAlive(first));
  const second = await cluster.start();
  const reader = new LogReader(runId);
  expect(await reader.follow(second.client)).toBe(status.OK);
  await expectInvariants(cluster.databaseUrl);
  return { reader, requests: provider.requests.length };
}
