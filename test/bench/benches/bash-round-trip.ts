// One command of the tool bash from its call to its result, in the jail; beside a bare bash with the same command.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBash } from "../../../src/agent/tools/bash/bash.ts";
import { createCommands } from "../../../src/agent/tools/bash/commands.ts";
import { findBubblewrap } from "../../../src/agent/tools/bash/find-bubblewrap.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { workspaceAt } from "../../tools/workspace.ts";
import type { Bench, Variant } from "../bench.ts";
import { percentile } from "../harness/load.ts";

const command = "echo hi";

export const bashRoundTrip: Bench = {
  name: "bash",
  title: "Commands of the bash tool, one at a time: `echo hi` in its jail",
  notMeasured:
    "concurrent commands; the work of the commands themselves; large work directories, whose size is counted at their first command; runs, models and RPC.",
  roundsMax: 3,
  async *measure(stage) {
    const jail = await findBubblewrap({ clock: systemClock, hidden: [], path: process.env.PATH ?? "" });
    if ("problem" in jail) {
      throw new Error(`${jail.problem}: ${jail.fix}`);
    }
    const bash = createBash(
      createCommands({ jail, clock: systemClock, denyList: "documented", growthBytesMax: 1_073_741_824 }),
    );
    const workDir = await mkdtemp(join(tmpdir(), "runnel-bench-"));
    await using _closed = { [Symbol.asyncDispose]: () => rm(workDir, { recursive: true, force: true }) };
    const { signal } = new AbortController();
    const inJail = async (): Promise<string> => {
      const outcome = await bash.run({ command }, { ...workspaceAt(workDir), sessionId: "bench", signal });
      return "content" in outcome ? outcome.content : outcome.error;
    };
    const count = stage.quick ? 40 : 150;
    await measureCommands("warm-up", 10, inJail);
    for (;;) {
      const bare = await measureCommands("bare bash", count, () => runBare(workDir));
      const jailed = await measureCommands("in the jail", count, inJail);
      const ratio = (jailed.metrics["p50, ms"] ?? Number.NaN) / (bare.metrics["p50, ms"] ?? Number.NaN);
      yield [{ ...jailed, metrics: { ...jailed.metrics, "p50, ratio to bare": ratio } }, bare];
    }
  },
};

async function measureCommands(name: string, count: number, run: () => Promise<string>): Promise<Variant> {
  const tookMs: number[] = [];
  const faults: string[] = [];
  for (let index = 0; index < count; index++) {
    const startedMs = performance.now();
    const text = await run();
    tookMs.push(performance.now() - startedMs);
    if (text !== "hi\n") {
      faults.push(`printed ${JSON.stringify(text)}`);
    }
  }
  return { name, metrics: { "p50, ms": percentile(tookMs, 0.5), "p99, ms": percentile(tookMs, 0.99) }, faults };
}

function runBare(cwd: string): Promise<string> {
  const child = spawn("/bin/bash", ["-c", command], { cwd, env: {}, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  child.stdout.on("data", (piece: Buffer) => {
    text += piece.toString();
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve(text));
  });
}
