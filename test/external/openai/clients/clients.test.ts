// Python programs for OpenAI's API, unmodified, feature by feature; and the table of the page that says what works.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { onChat } from "../../../fakes/provider.ts";
import { startWireServer } from "../../../fakes/wire-server.ts";
import { keyOf } from "../../../harness/credentials.ts";
import { startService } from "../../../harness/service.ts";
import { runProgram } from "../../program.ts";
import { openaiClientsPython, programs } from "../../programs.ts";
import { obey } from "./model.ts";

interface Outcome {
  readonly client: string;
  readonly feature: string;
  /** Null when it works. */
  readonly problem: string | null;
}

const page = join(import.meta.dirname, "../../../../docs/call/openai.md");

/** A hundred cases, and nine programs that take seconds to load. */
const runMaxMs = 600_000;

test.skipIf(!programs["openai-clients"].isHere())(
  "every program works, and the page shows it; WRITE_TABLE=1 writes the table",
  async () => {
    const outcomes = await runAll();
    expect(outcomes.filter(({ problem }) => problem !== null)).toEqual([]);
    expect(new Set(outcomes.map(({ client }) => client.split(" ")[0])).size).toBe(9);
    const text = await readFile(page, "utf8");
    const table = `$1\n${printTable(outcomes)}\n$2`;
    const filled = text.replace(/(<!-- clients:begin -->\n)[\s\S]*(<!-- clients:end -->)/, table);
    if (process.env.WRITE_TABLE === "1") {
      await writeFile(page, filled);
    }
    expect(await readFile(page, "utf8")).toBe(filled);
  },
  runMaxMs,
);

async function runAll(): Promise<readonly Outcome[]> {
  const server = await startWireServer(() => onChat(obey));
  onTestFinished(() => server.close());
  const flags = { openaiKey: "k", openaiBaseUrl: `${server.origin}/v1`, circuitMaxFailures: 1_000 };
  const service = await startService({ ...flags, defaultModel: "gpt-4o-mini" }, { own: true });
  const script = join(import.meta.dirname, "programs.py");
  const { stdout } = await runProgram(openaiClientsPython, [script, `${service.url}/v1`, keyOf()]);
  const lines = stdout.toString().split("\n");
  // Some programs print lines of their own.
  return lines.filter((line) => line.startsWith('{"client"')).map((line) => JSON.parse(line));
}

/** Prints a row for each client, and a column for each feature that several clients have. */
function printTable(all: readonly Outcome[]): string {
  const byFeature = Map.groupBy(all, ({ feature }) => feature);
  const features = [...byFeature].filter(([, cases]) => cases.length > 2).map(([feature]) => feature);
  const rows = [...Map.groupBy(all, ({ client }) => client)].map(([client, cases]) => {
    const cells = features.map((name) => {
      const found = cases.find(({ feature }) => feature === name);
      return found === undefined ? "" : found.problem === null ? "✓" : "no";
    });
    return [client, ...cells];
  });
  const table = [["program", ...features], ["", ...features].map(() => "---"), ...rows];
  return table.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}
