// One client, and one without credentials, send the worst bodies that the limits allow, at the rate that they allow, to every
// route. Another client's small calls are answered as quickly as ever.

import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { openCluster } from "../../fault/cluster.ts";
import { peakResidentBytes, residentBytes } from "../../fault/resource-probe.ts";
import { credentialsOf } from "../../harness/credentials.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import type { Attack } from "../../server/attack/attacker.ts";
import { heavyBodies, mediumBodies, type WorstBody } from "../../server/attack/worst-bodies.ts";

/** Beyond what the slowest call takes without an attack. */
const p99MaxMs = 250;
const callsBefore = 30;
/** The service holds 128 MiB of bodies, and what it builds of one of them is at most this much. */
const grownBytesMax = 450 * 1_048_576;

test.each([
  ["every route", mediumBodies, 8],
  ["the largest bodies", heavyBodies, 2],
] as const)("%s", { timeout: 300_000 }, async (_, makeBodies, rounds) => {
  const cluster = await openCluster({ RUNNEL_RATELIMIT_RPS: "20", RUNNEL_RATELIMIT_FAILURES_RPS: "20" });
  const member = await cluster.start();
  const neighbour = new GrpcClient(member.target, credentialsOf("stranger"));
  const small = async (): Promise<number> => {
    const startedMs = performance.now();
    await neighbour.call(RunService.method.listRuns, { pageSize: 1 });
    return performance.now() - startedMs;
  };
  const usualMs: number[] = [];
  for (let count = 0; count < callsBefore; count += 1) {
    usualMs.push(await small());
    await delay(60);
  }
  const before = residentBytes(member.pid);
  const over = attackBy(member.url, makeBodies(), rounds);
  const tookMs: number[] = [];
  for (let isOver = false; !isOver; ) {
    tookMs.push(await small());
    isOver = (await Promise.race([over, delay(60, "going on")])) !== "going on";
  }
  const { statuses, failures } = await over;
  expect(failures).toEqual([]);
  expect(Object.keys(statuses)).not.toContain("500");
  expect(tookMs.length).toBeGreaterThan(100);
  tookMs.sort((a, b) => a - b);
  const p99 = tookMs[Math.floor(tookMs.length * 0.99)] ?? Number.NaN;
  expect(p99).toBeLessThan(p99MaxMs + Math.max(...usualMs.slice(callsBefore / 2)));
  expect(peakResidentBytes(member.pid) - before).toBeLessThan(grownBytesMax);
});

interface Outcome {
  readonly statuses: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

/** Sends each body so many times, in a thread of its own, so that it does not slow the neighbour's measurement. */
async function attackBy(url: string, bodies: readonly WorstBody[], rounds: number): Promise<Outcome> {
  const attack: Attack = { url, bodies, rounds, credentials: credentialsOf() };
  const worker = new Worker(new URL("../../server/attack/attacker.ts", import.meta.url), { workerData: attack });
  onTestFinished(async () => void (await worker.terminate()));
  const [outcome] = await Promise.race([
    once(worker, "message"),
    once(worker, "error").then(([error]) => Promise.reject(error)),
  ]);
  return outcome;
}
