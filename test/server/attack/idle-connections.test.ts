// As many connections as the port accepts, from many addresses, without a single request.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { countDescriptors, probeResources, residentBytes } from "../../fault/resource-probe.ts";
import { until } from "../../harness/wait.ts";
import { type AttackedService, test } from "./attacked-service.ts";

const program = fileURLToPath(new URL("./idle-connections.ts", import.meta.url));
/** The port accepts 10,000 by default; a bystander needs a few of them. */
const idle = 9_900;
const bytesPerConnectionMax = 64 * 1_024;
const idleTimeoutMs = 180_000;

test("9,900 idle connections cost little and disturb no other client", {
  timeout: idleTimeoutMs,
}, async ({ attacked }) => {
  const { pid } = attacked.member;
  const before = await probeResources(attacked.member);
  const residentBefore = residentBytes(pid);
  const attackers = await startIdle(attacked);
  expect(attackers.open).toBe(idle);
  expect(countDescriptors(pid)).toBeGreaterThan(idle);
  const during = await probeResources(attacked.member);
  expect((during.bytes - before.bytes) / idle).toBeLessThan(bytesPerConnectionMax);
  expect((residentBytes(pid) - residentBefore) / idle).toBeLessThan(2 * bytesPerConnectionMax);
  const answers = attacked.bystander.answers;
  await until("the bystander to be served beside them", () => attacked.bystander.answers > answers + 10);
  await attackers.leave();
  await attacked.expectUnharmed();
});

async function startIdle({ host, port }: AttackedService): Promise<{ open: number; leave: () => Promise<void> }> {
  const child = spawn(process.execPath, [program, host, String(port), String(idle)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  const leave = async (): Promise<void> => {
    child.kill("SIGKILL");
    await gone;
  };
  onTestFinished(leave);
  const [line]: string[] = await once(createInterface({ input: child.stdout }), "line");
  return { open: JSON.parse(line ?? "{}").open, leave };
}
