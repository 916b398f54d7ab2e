// The resources of a service's process: memory after a collection, timers, sockets, descriptors. The service's code is
// unchanged: a few preloaded lines answer a signal.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { until } from "../harness/wait.ts";
import { linesOf, type Member } from "./cluster.ts";

const preloaded = `process.on("SIGUSR2", () => {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  const resources = Object.groupBy(process.getActiveResourcesInfo(), (name) => name);
  const counts = Object.fromEntries(Object.entries(resources).map(([name, all]) => [name, all.length]));
  process.stderr.write(JSON.stringify({ msg: "seen", bytes: heapUsed + external, resources: counts }) + "\\n");
});`;

/** The environment of a process that can be inspected. */
export const resourceProbe = {
  NODE_OPTIONS: `--expose-gc --import=data:text/javascript,${encodeURIComponent(preloaded)}`,
};

export interface ProcessResources {
  /** Memory of JavaScript, inside and outside of its heap, after a collection. */
  readonly bytes: number;
  /** The resources that keep the process's event loop running, by Node's names. */
  readonly resources: Readonly<Record<string, number>>;
  readonly descriptors: number;
}

export async function probeResources(member: Member): Promise<ProcessResources> {
  const seenBefore = linesOf(member, "seen").length;
  process.kill(member.pid, "SIGUSR2");
  const line = await until("the process to answer", () => linesOf(member, "seen")[seenBefore]);
  return {
    bytes: Number(line.bytes),
    resources: line.resources as ProcessResources["resources"],
    descriptors: countDescriptors(member.pid),
  };
}

export function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

export function residentBytes(pid: number): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) * 1_024;
}

/** The peak of the process's resident memory. */
export function peakResidentBytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1_024;
}
