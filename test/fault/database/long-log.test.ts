// A log that is much longer than the part of it that a process may hold.

import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { openCluster, startRun } from "../cluster.ts";
import { expectInvariants } from "../invariants.ts";
import { readLog } from "../log-reader.ts";
import { peakResidentBytes } from "../resource-probe.ts";
import { lengthenLog } from "./long-log.ts";

const results = 100_000;
/** Together nearly twice the allowed growth, which is nearly twice the real one: garbage collection times vary. */
const textChars = 3_000;
const grownBytesMax = 160 * 1_048_576;
const longLogTimeoutMs = 180_000;

// The reader is as fast as possible and keeps only its place. In the middle it leaves and comes again.
test("100,000 results are read, and resumed in the middle, in bounded memory", {
  timeout: longLogTimeoutMs,
}, async () => {
  const cluster = await openCluster();
  const member = await cluster.start();
  const { runId } = await startRun(member.client, "words=20 pace=0");
  await readLog(member.client, runId);
  const warmUp = await startRun(member.client, "words=20 pace=0");
  await readLog(member.client, warmUp.runId);
  await lengthenLog(cluster.databaseUrl, warmUp.runId, { count: results / 20, text: "x".repeat(textChars) });
  await readLog(member.client, warmUp.runId);
  await lengthenLog(cluster.databaseUrl, runId, { count: results, text: "x".repeat(textChars) });

  const residentBefore = peakResidentBytes(member.pid);
  let last = 0;
  const read = async (until: number): Promise<void> => {
    for await (const batch of member.client.stream(RunService.method.tailRun, { runId, after: BigInt(last) })) {
      for (const { sequence } of batch.results) {
        expect(Number(sequence)).toBe(last + 1);
        last += 1;
      }
      if (last >= until) {
        return;
      }
    }
  };
  await read(results / 2);
  expect(last).toBeLessThan(results);
  await read(Number.POSITIVE_INFINITY);
  expect(last).toBe(results);
  expect(peakResidentBytes(member.pid) - residentBefore).toBeLessThan(grownBytesMax);
  await expectInvariants(cluster.databaseUrl);
});
