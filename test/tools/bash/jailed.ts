// Base of the tests of the jail: bash in a real jail, and files and ports outside it that no command may reach.

import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { expect, inject, onTestFinished } from "vitest";
import { createBash } from "../../../src/agent/tools/bash/bash.ts";
import { type Commands, createCommands } from "../../../src/agent/tools/bash/commands.ts";
import { type Bubblewrap, findBubblewrap } from "../../../src/agent/tools/bash/find-bubblewrap.ts";
import type { KillLimit } from "../../../src/agent/tools/bash/limits.ts";
import type { Tool } from "../../../src/agent/tools/tool.ts";
import { type Clock, systemClock } from "../../../src/platform/base/clock.ts";

/** False on a machine without a jail: its tests are skipped, and the test run says so in a line. */
export const hasJail: boolean = inject("hasJail");

const mebibyte = 1_048_576;

export async function openJail(): Promise<Bubblewrap> {
  const jail = await findBubblewrap({ clock: systemClock, hidden: [], path: process.env.PATH ?? "" });
  if ("problem" in jail) {
    throw new Error(`${jail.problem}: ${jail.fix}`);
  }
  return jail;
}

export interface JailedOptions {
  readonly growthMb?: number;
  readonly onKilled?: (limit: KillLimit) => void;
  readonly clock?: Clock;
}

/** Small limits, which tests reach quickly. */
export async function openCommands(options: JailedOptions = {}): Promise<Commands> {
  const { growthMb = 64, onKilled = () => {}, clock = systemClock } = options;
  return createCommands({
    jail: await openJail(),
    clock,
    denyList: "documented",
    growthBytesMax: growthMb * mebibyte,
    onKilled,
  });
}

export async function openBash(options: JailedOptions = {}): Promise<Tool> {
  return createBash(await openCommands(options));
}

/** All processes of a session's commands, also detached ones: only they have this HOME. */
export function processesOf(sessionId: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readQuietly(`/proc/${pid}/environ`).includes(`HOME=/tmp/agent-runner/${sessionId}\0`))
    .map((pid) => readQuietly(`/proc/${pid}/cmdline`).replaceAll("\0", " "));
}

/** Returns how many processes have this argument. */
export function countProcesses(argument: string): number {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => readQuietly(`/proc/${pid}/cmdline`).split("\0").includes(argument)).length;
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Listens on this machine's loopback. No command may ever connect. */
export async function openListener(): Promise<{ readonly port: number; readonly connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  expect(address).toBeInstanceOf(Object);
  return { port: (address as { port: number }).port, connections: () => connections };
}
