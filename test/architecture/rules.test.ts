// The rules themselves: each one finds a planted violation, names its line, and accepts allowed code.

import { expect, test } from "vitest";
import { findOffences, rules } from "./rules.ts";
import { parseSourceFile } from "./source-file.ts";

interface Planted {
  readonly rule: string;
  /** Path, the text after the opening comment (it starts on line 2), and the line of the violation. */
  readonly refused: readonly (readonly [path: string, body: string, line: number])[];
  readonly allowed: readonly (readonly [path: string, body: string])[];
}

const planted: readonly Planted[] = [
  {
    rule: "folders are those of the layer table",
    refused: [
      ["plugins/load.ts", "", 1],
      ["start.ts", "", 1],
      ["engine/plugins/load.ts", "", 1],
    ],
    allowed: [["app/app.ts", ""]],
  },
  {
    rule: "imports go down the layers",
    refused: [
      ["platform/base/a.ts", 'import { b } from "../../engine/runs/b.ts";', 2],
      ["platform/base/a.ts", 'import type { B } from "../../engine/runs/b.ts";', 2],
      ["platform/base/a.ts", 'import {\n  b,\n} from "../../engine/runs/b.ts";', 2],
      ["platform/base/a.ts", 'import "../../engine/runs/b.ts";', 2],
      ["platform/base/a.ts", '\nexport { b } from "../../engine/runs/b.ts";', 3],
      ["platform/base/a.ts", 'const b = await import("../../engine/runs/b.ts");', 2],
      ["agent/models/a.ts", 'import { b } from "../tools/b.ts";', 2],
      ["engine/runs/a.ts", 'import { b } from "../../../test/b.ts";', 2],
      ["engine/runs/a.ts", 'import { b } from "../../protocols/langbot/b.ts";', 2],
      ["api/a.ts", 'import { b } from "../protocols/langbot/b.ts";', 2],
      ["protocols/exchange/a.ts", 'import { b } from "../langbot/b.ts";', 2],
      ["surfaces/rest/a.ts", 'import { b } from "../../engine/runs/b.ts";', 2],
      ["surfaces/rest/a.ts", 'import { b } from "../../platform/auth/b.ts";', 2],
      ["cli/run.ts", 'import { app } from "../app/app.ts";', 2],
      ["cli/run.ts", 'import { read } from "../engine/hash-chain/log-line.ts";', 2],
      ["cli/jobspec/sign.ts", 'import { sign } from "../../engine/receipts/jws.ts";', 2],
      ["cli/receipt.ts", 'import { sign } from "../protocols/jobspec/verification/sign.ts";', 2],
      ["cli/receipt.ts", 'import { app } from "../app/app.ts";', 2],
    ],
    allowed: [
      ["cli/serve.ts", 'import { app } from "../app/app.ts";'],
      ["cli/jobspec/sign.ts", 'import { sign } from "../../protocols/jobspec/verification/sign.ts";'],
      ["cli/receipt.ts", 'import { read } from "../engine/hash-chain/log-line.ts";'],
      ["main.ts", 'import { run } from "./cli/run.ts";'],
      ["surfaces/rest/a.ts", 'import { b } from "../openapi/b.ts";'],
      ["surfaces/http/a.ts", 'import { b } from "../../platform/auth/b.ts";'],
      ["surfaces/rest/a.ts", 'import { RunSchema } from "#gen/runnel/v1/run_pb.js";'],
      ["protocols/langbot/runners/a.ts", 'import { b } from "../storage/b.ts";'],
      ["protocols/langbot/runners/a.ts", 'import { b } from "../../../engine/runs/b.ts";'],
      ["platform/base/a.ts", '// import { b } from "../../engine/runs/b.ts";'],
    ],
  },
  {
    rule: "names say what a file holds",
    refused: [
      ["platform/base/utils.ts", "", 1],
      ["engine/runs/run-manager.ts", "", 1],
      ["engine/runs/common/claim.ts", "", 1],
    ],
    allowed: [["engine/runs/claim.ts", ""]],
  },
  {
    rule: "no syntax that type stripping refuses",
    refused: [
      ["platform/base/a.ts", "export enum Colour { Red }", 2],
      ["platform/base/a.ts", "const enum Colour { Red }", 2],
      ["platform/base/a.ts", "\nnamespace a { }", 3],
    ],
    allowed: [["platform/base/a.ts", "const namespace = 1;"]],
  },
  {
    rule: "SQL stays in storage",
    refused: [
      ["engine/runs/a.ts", "const query = sql`select 1`;", 2],
      ["engine/runs/a.ts", "const query = sql<{ n: number }>`select 1`;", 2],
    ],
    allowed: [["engine/storage/a.ts", "const query = sql`select 1`;"]],
  },
  {
    rule: "the engine alone writes runs and sessions",
    refused: [
      ["protocols/jobspec/storage/a.ts", "const query = sql`\n  insert into run (id) values (1)`;", 3],
      [
        "protocols/jobspec/storage/a.ts",
        "const query = sql`with a as (INSERT INTO session (id) values (1)) select 1`;",
        2,
      ],
      ["protocols/langbot/storage/a.ts", "const query = sql`update run set owner = null`;", 2],
      ["protocols/langbot/storage/a.ts", "const query = sql`delete from only session`;", 2],
      ["protocols/langbot/storage/a.ts", 'await trx.insertInto("run").values(row).execute();', 2],
      ["protocols/langbot/storage/a.ts", 'await trx\n  .updateTable("session")\n  .set(change).execute();', 3],
      ["platform/database/a.ts", 'await trx.deleteFrom("run as r").execute();', 2],
    ],
    allowed: [
      ["engine/storage/a.ts", "const query = sql`update run set owner = null`;"],
      ["protocols/langbot/storage/a.ts", "const query = sql`update run_result set epoch = 1`;"],
      ["protocols/langbot/storage/a.ts", "const query = sql`select id from run for update of run`;"],
      ["protocols/langbot/storage/a.ts", 'await trx.updateTable("remote_run").set(change).execute();'],
      ["protocols/langbot/storage/a.ts", "// The engine has to update run and session."],
    ],
  },
  {
    rule: "only storage knows the database library",
    refused: [
      ["engine/runs/a.ts", 'import pg from "pg";', 2],
      ["engine/runs/a.ts", 'import type { Kysely } from "kysely";', 2],
    ],
    allowed: [["engine/storage/a.ts", 'import { sql } from "kysely";']],
  },
  {
    rule: "one file prints",
    refused: [
      ["cli/a.ts", "console.error(text);", 2],
      ["engine/runs/a.ts", "process.stdout.write(text);", 2],
    ],
    allowed: [
      ["cli/terminal.ts", "console.error(text);"],
      ["cli/a.ts", "sayLine(text);"],
    ],
  },
  {
    rule: "time and chance come from base",
    refused: [
      ["engine/runs/a.ts", "const t = Date.now();", 2],
      ["engine/runs/a.ts", "const t = new Date();", 2],
      ["engine/runs/a.ts", "\n\nsetTimeout(f, 1);", 4],
      ["engine/runs/a.ts", "const t = `now ${" + "Date.now()}`;", 2],
      ["engine/runs/a.ts", "const quote = /[\"'`]/;\nMath.random();", 3],
      ["engine/runs/a.ts", 'import { randomUUID } from "node:crypto";', 2],
    ],
    allowed: [
      ["engine/runs/a.ts", "socket.setTimeout(1);"],
      ["engine/runs/a.ts", "/* Date.now() */ const a = 'setTimeout';"],
      ["platform/base/a.ts", "const t = Date.now();"],
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
  expect(findOffencesIn("platform/base/a.ts", "export const a = 1;\n")).toEqual([
    expect.stringMatching("^src/platform/base/a.ts:1 a file opens with a comment"),
  ]);
});

test("every rule has its planted violation here", () => {
  const ruleNames = [...planted.map(({ rule }) => rule), "a file opens with a comment"];
  expect(ruleNames.sort()).toEqual(rules.map(({ name }) => name).sort());
});

function findOffencesIn(path: string, text: string): string[] {
  return findOffences([parseSourceFile(path, text)]);
}
