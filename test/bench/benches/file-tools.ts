// The file tools as the agent loop calls them, in this process: grep over many small files beside ripgrep, and read_file of a
// large file beside merely reading it with Node.

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile as readWhole, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { rgPath } from "@vscode/ripgrep";
import { grep } from "../../../src/agent/tools/grep.ts";
import { readFile } from "../../../src/agent/tools/read-file.ts";
import type { Tool } from "../../../src/agent/tools/tool.ts";
import { workspaceAt } from "../../tools/workspace.ts";
import type { Bench, Variant } from "../bench.ts";
import { measure } from "../harness/meter.ts";

const directories = 100;
const filesEach = 100;
const linesEach = 40;
/** In every 200th file: half as many lines as an answer may have. */
const needle = "needle42";
const needleInterval = 200;
const largeBytes = 10_485_760;

/**
 * A word that occurs nowhere else; the same behind a class, so that no engine can search for the plain text; a pattern without
 * a match.
 */
const patterns: Readonly<Record<string, string>> = {
  "a word": "needle42",
  "an expression": "[a-z]+dle\\d+ h",
  "no match": "\\bneedle\\d{5}\\b",
};

export const fileTools: Bench = {
  name: "tools",
  title: `grep over ${directories * filesEach} files of ${linesEach} lines, and read_file of 10 MiB`,
  notMeasured:
    "a cold disk cache, files of other sizes, concurrent searches, the start of the first search thread. The time of ripgrep includes the start of its process.",
  roundsMax: 5,
  async *measure() {
    const area = await mkdtemp(join(tmpdir(), "runnel-bench-"));
    try {
      await makeTree(area);
      for (const pattern of Object.values(patterns)) {
        await compareSearches("warm-up", area, pattern);
      }
      for (;;) {
        const searches: Variant[] = [];
        for (const [name, pattern] of Object.entries(patterns)) {
          searches.push(await compareSearches(`grep, ${name}`, area, pattern));
        }
        yield [...searches, await compareReads(area)];
      }
    } finally {
      await rm(area, { recursive: true });
    }
  },
};

async function makeTree(area: string): Promise<void> {
  for (let directory = 0; directory < directories; directory += 1) {
    const path = join(area, "tree", `d${directory}`);
    await mkdir(path, { recursive: true });
    for (let file = 0; file < filesEach; file += 1) {
      const index = directory * filesEach + file;
      await writeFile(join(path, `f${file}.ts`), makeText(index));
    }
  }
  await writeFile(join(area, "large"), `${"x".repeat(127)}\n`.repeat(largeBytes / 128));
}

function makeText(index: number): string {
  const lines = Array.from(
    { length: linesEach },
    (_, line) => `const value${line} = compute(${index + line}); // why ${line}`,
  );
  return `${lines.join("\n")}\n${index % needleInterval === 0 ? `${needle} here\n` : ""}`;
}

async function compareSearches(name: string, area: string, pattern: string): Promise<Variant> {
  const tree = join(area, "tree");
  const theirs = await measure({}, () => runRipgrep(pattern, tree));
  const ours = await measure({}, () => runTool(grep, { pattern }, tree));
  const found = ours.result === "No matches found" ? "" : ours.result;
  const same = sortLines(found) === sortLines(theirs.result);
  return {
    name,
    metrics: {
      "wall, ms": ours.cost.wall * 1_000,
      "reference wall, ms": theirs.cost.wall * 1_000,
      "wall, ratio to reference": ours.cost.wall / theirs.cost.wall,
      "own CPU, ms": ours.cost.client * 1_000,
    },
    faults: same ? [] : ["grep and ripgrep found different lines"],
  };
}

async function runRipgrep(pattern: string, directory: string): Promise<string> {
  const args = ["--no-config", "--no-ignore", "--hidden", "--no-heading", "--line-number", "--", pattern, directory];
  const { stdout } = await promisify(execFile)(rgPath, args).catch((error: { code?: unknown; stdout?: string }) => {
    // 1: nothing found.
    if (error.code === 1) {
      return { stdout: "" };
    }
    throw error;
  });
  return stdout;
}

function sortLines(text: string): string {
  return text.split("\n").sort().join("\n");
}

async function compareReads(area: string): Promise<Variant> {
  const theirs = await measure({}, async () => (await readWhole(join(area, "large"), "utf8")).length);
  const ours = await measure({}, () => runTool(readFile, { file_path: "large" }, area));
  const lines = largeBytes / 128;
  const cut = `(truncated: showing 102400 of ${largeBytes + lines * 7} bytes)`;
  return {
    name: "read_file, 10 MiB",
    metrics: {
      "wall, ms": ours.cost.wall * 1_000,
      "reference wall, ms": theirs.cost.wall * 1_000,
      "wall, ratio to reference": ours.cost.wall / theirs.cost.wall,
      "own CPU, ms": ours.cost.client * 1_000,
    },
    faults: ours.result.endsWith(cut) ? [] : [`read_file did not read to the end: …${ours.result.slice(-80)}`],
  };
}

async function runTool(tool: Tool, args: Record<string, unknown>, workDir: string): Promise<string> {
  const outcome = await tool.run(args, {
    ...workspaceAt(workDir),
    sessionId: "s1",
    signal: new AbortController().signal,
  });
  if ("error" in outcome) {
    throw new Error(outcome.error);
  }
  return outcome.content;
}
