// Nobody reads the log lines of a busy service for a while. It serves on without waiting for them, and says how many it could
// not keep.

import { expect, test } from "vitest";
import { testDatabase } from "../harness/database.ts";
import { startProcess } from "../harness/process.ts";
import { until } from "../harness/wait.ts";
import { linesOf } from "./cluster.ts";

/** What waits at most, in the service and in the system, is far less than their lines. */
const calls = 10_000;
const callsAtOnce = 20;
/** Longer than lines that wait are tried for. */
const triesMs = 1_500;

test("a log that nobody reads holds up nobody, and what it lost is told", async () => {
  const service = await startProcess({ RUNNEL_DATABASE_URL: await testDatabase() });
  const readOn = service.holdLog();
  const begunMs = performance.now();
  const statuses = new Set<number>();
  const callInTurn = async (): Promise<void> => {
    for (let made = 0; made < calls / callsAtOnce; made++) {
      const response = await fetch(`${service.url}/v1/sessions`);
      statuses.add(response.status);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: callsAtOnce }, callInTurn));
  expect([...statuses]).toEqual([401]);
  // By then the service has given up to try by itself: it takes the next line to begin again.
  const heldMs = performance.now() - begunMs;
  for (let more = calls; performance.now() - begunMs < heldMs + triesMs; more++) {
    await fetch(`${service.url}/livez?${more}`);
  }
  readOn();
  const [dropped] = await until("the log to go on", async () => {
    await fetch(`${service.url}/v1/sessions`);
    const lines = linesOf(service, "log.dropped");
    return lines.length > 0 && lines;
  });
  const kept = linesOf(service, "request.finished").length;
  expect(kept).toBeLessThan(calls);
  expect(kept + Number(dropped?.lines)).toBeGreaterThanOrEqual(calls);
  expect(await service.stop()).toBe(0);
});
