// No regular expression takes more than linear time: a text from outside could keep the process busy for minutes. The analysis
// finds patterns that backtrack, and patterns whose search begins again at each character of a run, such as `/ +$/`.

import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";
import { analyse } from "scslre";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { lineAt } from "./source-file.ts";

interface Pattern {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** Patterns that may take longer, because a limit keeps their text short. */
const bounded: Readonly<Record<string, string>> = {
  "src/platform/auth/authenticate.ts": "a header: it holds no line break, and every other text matches",
  "src/platform/config/kinds.ts": "a setting of the operator",
};

/** Modules that make patterns of texts while they are loaded. */
const makers = [
  "src/agent/tools/bash/deny-list.ts",
  "src/cli/terminal.ts",
  "src/engine/receipts/statement.ts",
  "src/protocols/jobspec/verification/canonical-v1.ts",
  "src/protocols/langbot/runners/runner-id.ts",
  "src/surfaces/a2a/http-json.ts",
];

/** Modules that make patterns later, with an example of each; the pattern of a client is parsed and never run. */
const laterMakers: Readonly<Record<string, string | undefined>> = {
  "src/agent/models/demo/demo-model.ts": "\\bwords=(\\d{1,9})\\b",
  "src/agent/tools/mend-schema.ts": undefined,
  "src/protocols/community/decisions/parse.ts": "</think>",
  "src/surfaces/in-process/routed-surface.ts": "^/v1/models/(.+)$",
  "src/surfaces/openapi/rules.ts": undefined,
};

const files = globSync(["src/**/*.ts", "clients/**/src/**/*.ts", "console/src/**/*.{ts,tsx}"], { cwd: repositoryRoot })
  .filter((path) => !path.endsWith(".d.ts") && !path.includes("node_modules"))
  .map((path) => ({ path, text: readFileSync(new URL(`../../${path}`, import.meta.url), "utf8") }));

test("no pattern in the source takes more than linear time, unless its text is short", () => {
  const written = files.flatMap(({ path, text }) => findLiterals(path, text));
  expect(written.length).toBeGreaterThan(200);
  const slow = written.filter(isSlow);
  expect(slow.filter(({ place }) => bounded[fileOf(place)] === undefined)).toEqual([]);
  // A pattern that was mended leaves the list.
  expect([...new Set(slow.map(({ place }) => fileOf(place)))].sort()).toEqual(Object.keys(bounded).sort());
});

test("no pattern that is made of texts takes more than linear time", () => {
  const modules = makers.map((path) => new URL(`../../${path}`, import.meta.url).href);
  const program = fileURLToPath(new URL("made-patterns.ts", import.meta.url));
  const made: [string, string][] = JSON.parse(
    execFileSync(process.execPath, [program, ...modules], { encoding: "utf8" }),
  );
  expect(made.length).toBeGreaterThan(10);
  const later = Object.entries(laterMakers).flatMap(([place, source]) =>
    source === undefined ? [] : [{ place, source, flags: "i" }],
  );
  const patterns = [...made.map(([source, flags]): Pattern => ({ place: "made", source, flags })), ...later];
  expect(patterns.filter(isSlow)).toEqual([]);
});

test("every module that makes patterns is known here", () => {
  const making = files.filter(({ text }) => /\bnew RegExp\(/.test(text)).map(({ path }) => path);
  expect(making.sort()).toEqual([...makers, ...Object.keys(laterMakers)].sort());
});

test.each([
  ["a search that begins again", " +$", ""],
  ["a search that begins again in each line", "\\n\\s*x", ""],
  ["two repetitions of the same", "^\\s*a?\\s*$", ""],
  ["a repetition of a repetition", "^(?:a+)+$", ""],
])("the analysis finds %s", (_, source, flags) => {
  expect(isSlow({ place: "", source, flags })).toBe(true);
});

test.each([
  ["a repetition behind another text", "(?<! ) +$"],
  ["a repetition of one class", "^[A-Za-z0-9+/]*={0,2}$"],
])("the analysis allows %s", (_, source) => {
  expect(isSlow({ place: "", source, flags: "" })).toBe(false);
});

function isSlow({ source, flags }: Pattern): boolean {
  // The analysis does not know the flag for the places of groups, which changes no match.
  return analyse({ source, flags: flags.replace("d", "") }).reports.length > 0;
}

function fileOf(place: string): string {
  return place.slice(0, place.lastIndexOf(":"));
}

/** Returns the literals of a file. */
function findLiterals(path: string, text: string): Pattern[] {
  const { program, errors } = parseSync(path, text);
  expect(errors, path).toEqual([]);
  return literalsIn(program).map(({ start, regex: { pattern, flags } }) => ({
    place: `${path}:${lineAt(text, start)}`,
    source: pattern,
    flags,
  }));
}

interface Literal {
  readonly start: number;
  readonly regex: { readonly pattern: string; readonly flags: string };
}

function literalsIn(node: unknown): Literal[] {
  if (typeof node !== "object" || node === null) {
    return [];
  }
  return "regex" in node ? [node as Literal] : Object.values(node).flatMap(literalsIn);
}
