// Another process at work in the same tree: it swaps files and links under one name as fast as it can.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Area } from "./area.ts";

/** Starts a process that repeats `step`. Resolves when it has run once. */
export async function startSwapping(area: Area, step: string): Promise<AsyncDisposable> {
  const script = `
    const { renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } = require("node:fs");
    const [root, outside] = process.argv.slice(1);
    const step = () => { ${step} };
    step();
    process.stdout.write("swapping");
    for (;;) step();
  `;
  const child: ChildProcess = spawn(process.execPath, ["-e", script, area.root, area.outside], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  if (child.stdout !== null) {
    await Promise.race([once(child.stdout, "data"), exit]);
  }
  return {
    async [Symbol.asyncDispose]() {
      const alive = child.kill("SIGKILL");
      await exit;
      if (!alive) {
        throw new Error("the other process did not swap to the end");
      }
    },
  };
}
