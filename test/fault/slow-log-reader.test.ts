// The log lines of a busy service are not read for a while. It continues without waiting, and reports how many lines it
// dropped.

import { expect, test } from "vitest";
import { testDatabase } from "../harness/database.ts";
import { startProcess } from "../harness/process.ts";
import { until } from "../harness/wait.ts";
import { linesOf } from "./cluster.ts";

/** Their lines are far more than the buffers of the service and of the system hold. */
const calls = 10_000;
const callsAtOnce = 20;
/** Longer than the service retries waiting lines. */
const triesMs = 1_500;

test("a log that is not read delays no call, and the number of dropped lines is reported", async () => {
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
  // The service has stopped retrying by itself: it takes the next line to start again.
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
