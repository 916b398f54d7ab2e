// The tidy rules themselves: each one catches a planted violation, names its line, and leaves what is allowed alone.

import { expect, test } from "vitest";
import { findOffences, rules } from "./rules.ts";
import { parseSourceFile } from "./source-file.ts";

interface Planted {
  readonly rule: string;
  /** Path, what follows the opening comment (it starts on line 2), and the line that offends. */
  readonly refused: readonly (readonly [path: string, body: string, line: number])[];
  readonly allowed: readonly (readonly [path: string, body: string])[];
}

const planted: readonly Planted[] = [
  {
    rule: "folders are those of the layer table",
    refused: [
      ["plugins/load.ts", "", 1],
      ["start.ts", "", 1],
    ],
    allowed: [["app.ts", ""]],
  },
  {
    rule: "imports go down the layers",
    refused: [
      ["base/a.ts", 'import { b } from "../runs/b.ts";', 2],
      ["base/a.ts", 'import type { B } from "../runs/b.ts";', 2],
      ["base/a.ts", 'import {\n  b,\n} from "../runs/b.ts";', 2],
      ["base/a.ts", 'import "../runs/b.ts";', 2],
      ["base/a.ts", '\nexport { b } from "../runs/b.ts";', 3],
      ["base/a.ts", 'const b = await import("../runs/b.ts");', 2],
      ["models/a.ts", 'import { b } from "../tools/b.ts";', 2],
      ["runs/a.ts", 'import { b } from "../../test/b.ts";', 2],
      ["gateways/rest/a.ts", 'import { b } from "../../runs/b.ts";', 2],
      ["cli/run.ts", 'import { app } from "../app.ts";', 2],
      ["cli/run.ts", 'import { read } from "../receipts/log-line.ts";', 2],
      ["cli/sign.ts", 'import { sign } from "../receipts/jws.ts";', 2],
      ["cli/receipt.ts", 'import { sign } from "../jobspec/sign.ts";', 2],
      ["cli/receipt.ts", 'import { app } from "../app.ts";', 2],
    ],
    allowed: [
      ["cli/serve.ts", 'import { app } from "../app.ts";'],
      ["cli/sign.ts", 'import { sign } from "../jobspec/sign.ts";'],
      ["cli/receipt.ts", 'import { read } from "../receipts/log-line.ts";'],
      ["main.ts", 'import { run } from "./cli/run.ts";'],
      ["gateways/rest/a.ts", 'import { b } from "../b.ts";'],
      ["gateways/a.ts", 'import { RunSchema } from "#gen/runnel/v1/run_pb.js";'],
      ["runs/a.ts", 'import { b } from "../runners/b.ts";'],
      ["base/a.ts", '// import { b } from "../runs/b.ts";'],
    ],
  },
  {
    rule: "names say what a file holds",
    refused: [
      ["base/utils.ts", "", 1],
      ["runs/run-manager.ts", "", 1],
      ["runs/common/claim.ts", "", 1],
    ],
    allowed: [["runs/claim.ts", ""]],
  },
  {
    rule: "no syntax that type stripping refuses",
    refused: [
      ["base/a.ts", "export enum Colour { Red }", 2],
      ["base/a.ts", "const enum Colour { Red }", 2],
      ["base/a.ts", "\nnamespace a { }", 3],
    ],
    allowed: [["base/a.ts", "const namespace = 1;"]],
  },
  {
    rule: "SQL stays in storage",
    refused: [
      ["runs/a.ts", "const query = sql`select 1`;", 2],
      ["runs/a.ts", "const query = sql<{ n: number }>`select 1`;", 2],
    ],
    allowed: [["storage/a.ts", "const query = sql`select 1`;"]],
  },
  {
    rule: "only storage knows the database library",
    refused: [
      ["runs/a.ts", 'import pg from "pg";', 2],
      ["runs/a.ts", 'import type { Kysely } from "kysely";', 2],
    ],
    allowed: [["storage/a.ts", 'import { sql } from "kysely";']],
  },
  {
    rule: "one file prints",
    refused: [
      ["cli/a.ts", "console.error(text);", 2],
      ["runs/a.ts", "process.stdout.write(text);", 2],
    ],
    allowed: [
      ["cli/terminal.ts", "console.error(text);"],
      ["cli/a.ts", "sayLine(text);"],
    ],
  },
  {
    rule: "time and chance come from base",
    refused: [
      ["runs/a.ts", "const t = Date.now();", 2],
      ["runs/a.ts", "const t = new Date();", 2],
      ["runs/a.ts", "\n\nsetTimeout(f, 1);", 4],
      ["runs/a.ts", "const t = `now ${" + "Date.now()}`;", 2],
      ["runs/a.ts", "const quote = /[\"'`]/;\nMath.random();", 3],
      ["runs/a.ts", 'import { randomUUID } from "node:crypto";', 2],
    ],
    allowed: [
      ["runs/a.ts", "socket.setTimeout(1);"],
      ["runs/a.ts", "/* Date.now() */ const a = 'setTimeout';"],
      ["base/a.ts", "const t = Date.now();"],
    ],
  },
];

const refusedCases = planted.flatMap(({ rule, refused }) => refused.map((planting) => [rule, ...planting] as const));
const allowedCases = planted.flatMap(({ rule, allowed }) => allowed.map((planting) => [rule, ...planting] as const));

test.each(refusedCases)("%s: refuses %s with %j", (_rule, path, body, line) => {
  expect(findOffencesIn(path, `// What it holds.\n${body}\n`)).toEqual([
    expect.stringMatching(`^src/${path}:${line} `),
  ]);
});

test.each(allowedCases)("%s: allows %s with %j", (_rule, path, body) => {
  expect(findOffencesIn(path, `// What it holds.\n${body}\n`)).toEqual([]);
});

test("a file opens with a comment: refuses one that does not", () => {
  expect(findOffencesIn("base/a.ts", "export const a = 1;\n")).toEqual([
    expect.stringMatching("^src/base/a.ts:1 a file opens with a comment"),
  ]);
});

test("every rule has its planted violation here", () => {
  const ruleNames = [...planted.map(({ rule }) => rule), "a file opens with a comment"];
  expect(ruleNames.sort()).toEqual(rules.map(({ name }) => name).sort());
});

function findOffencesIn(path: string, text: string): string[] {
  return findOffences([parseSourceFile(path, text)]);
}
