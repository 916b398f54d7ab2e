// A service in a process of its own that is attacked while a bystander uses it, and the checks afterwards.

import { test as base, expect } from "vitest";
import { type Member, openCluster } from "../../fault/cluster.ts";
import { countDescriptors, type ProcessResources, probeResources, resourceProbe } from "../../fault/resource-probe.ts";
import { until } from "../../harness/wait.ts";
import { Bystander } from "./bystander.ts";

/** For memory in use after a collection: caches, and code that was compiled meanwhile. */
const driftBytesMax = 24 * 1_048_576;
/** The bystander's own, and connections of the pools that open and close. */
const driftDescriptorsMax = 10;
/** All timeouts of the port have passed by then, except those for idle connections in good order. */
const overMaxMs = 45_000;

export interface AttackedService {
  readonly member: Member;
  readonly host: string;
  readonly port: number;
  readonly bystander: Bystander;
  /** Waits until the attack has left nothing behind. */
  expectUnharmed(): Promise<void>;
}

export async function openAttackedService(settings: Readonly<Record<string, string>> = {}): Promise<AttackedService> {
  const cluster = await openCluster({ ...resourceProbe, ...settings });
  const member = await cluster.start();
  const bystander = new Bystander(member);
  await until("the bystander to be served", () => bystander.answers > 20);
  const before = await probeResources(member);
  const { hostname, port } = new URL(member.url);
  return {
    member,
    host: hostname,
    port: Number(port),
    bystander,
    expectUnharmed: async () => {
      const answers = bystander.answers;
      await until("the bystander to be served on", () => bystander.answers > answers + 5);
      await bystander.expectServed();
      await expectBackTo(before, member);
      expect(await member.stop()).toBe(0);
    },
  };
}

export const test = base.extend("attacked", () => openAttackedService());

async function expectBackTo(before: ProcessResources, member: Member): Promise<void> {
  const descriptorsMax = before.descriptors + driftDescriptorsMax;
  await until("the descriptors to be closed", () => countDescriptors(member.pid) <= descriptorsMax, overMaxMs);
  const isFreed = async (): Promise<boolean> => (await probeResources(member)).bytes < before.bytes + driftBytesMax;
  await until("the memory to be freed", isFreed, overMaxMs);
}
