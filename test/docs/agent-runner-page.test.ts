// The page that goes through the Agent Runner document is consistent: every test behind a claim exists, every deviation is in
// the list of them with a test of its own, and each claim and each of the 42 faults has a test.

import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const page = await readText("../../docs/agent-runner.md");
const deviations = await readText("../../docs/decisions/2026-11-21-deviations-from-agent-runner.md");
const rows = tableRows(page);
const proofs = rows.flatMap(proofsOf);

async function readText(path: string): Promise<string> {
  return await readFile(new URL(path, import.meta.url), "utf8");
}

/** Returns the cells of every line of a table except its head and the rule below the head. */
function tableRows(text: string): string[][] {
  const lines = text.split("\n").filter((line, index, all) => line.startsWith("|") && all[index - 1]?.startsWith("|"));
  return lines.filter((line) => !/^\|[-|]+\|$/.test(line)).map((line) => line.split(" | ").map(trimCell));
}

function trimCell(cell: string): string {
  return cell.replace(/^\| | \|$/g, "");
}

interface Proof {
  readonly file: string;
  readonly title: string;
}

/** Parses `file`: "title", "another title". */
function proofsOf(cells: readonly string[]): Proof[] {
  const groups = cells.at(-1)?.matchAll(/`([a-z0-9-]+(?:\/[a-z0-9-]+)+)`: ("[^"]+"(?:, "[^"]+")*)/g) ?? [];
  return [...groups].flatMap(([, file = "", titles = ""]) => quoted(titles).map((title) => ({ file, title })));
}

function deviationsOf(cells: readonly string[]): string[] {
  return [...(cells.at(-1)?.matchAll(/\*differs\*: ("[^"]+")/g) ?? [])].flatMap(([, title = ""]) => quoted(title));
}

function readingsIn(text: string): { word: string; path: string }[] {
  return [...text.matchAll(/\*by reading\*: `([^`]+)` in `([^`]+)`/g)].map(([, word = "", path = ""]) => ({
    word,
    path,
  }));
}

function quoted(text: string): string[] {
  return [...text.matchAll(/"([^"]+)"/g)].map(([, words = ""]) => words);
}

/** Returns the titles of the tests and groups in a file's source; none when the file does not exist. */
function titlesIn(file: string): string[] {
  const path = new URL(`../${file}.test.ts`, import.meta.url);
  const source = existsSync(path) ? readFileSync(path, "utf8") : "";
  const calls = source.matchAll(/(?:\b(?:test|describe)|\))\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1,/g);
  return [...calls].map(([, , title = ""]) => title);
}

function unknownOf(named: readonly Proof[]): Proof[] {
  return named.filter(({ file, title }) => !titlesIn(file).some((known) => known.startsWith(title)));
}

test("every test that the page names exists", () => {
  expect(proofs.length).toBeGreaterThan(200);
  expect(unknownOf(proofs)).toEqual([]);
});

test("every deviation that the page names is in the list of them", () => {
  const listed = tableRows(deviations).map(([there = ""]) => there);
  const named = rows.flatMap(deviationsOf);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((start) => !listed.some((there) => there.startsWith(start)))).toEqual([]);
});

test("every deviation has a reason and a test that exists", () => {
  const listed = tableRows(deviations);
  expect(listed.length).toBeGreaterThan(60);
  expect(listed.filter((cells) => cells.length !== 5 || cells.includes("") || proofsOf(cells).length === 0)).toEqual(
    [],
  );
  expect(unknownOf(listed.flatMap(proofsOf))).toEqual([]);
});

test("every place that the page refers to can be read", () => {
  for (const { word, path } of readingsIn(page)) {
    expect(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")).toContain(word);
  }
});

test("every line of the page has a test, a deviation or a place to read", () => {
  const bare = rows.filter((cells) => {
    const shown = [...proofsOf(cells), ...deviationsOf(cells), ...readingsIn(cells.join(" | "))];
    return shown.length === 0;
  });
  expect(bare).toEqual([]);
});

test("each of the 42 faults is listed once, with a test", () => {
  const numbered = rows.filter(([first = ""]) => /^\d+$/.test(first));
  expect(numbered.map(([number]) => Number(number))).toEqual(Array.from({ length: 42 }, (_, index) => index + 1));
  expect(numbered.filter((cells) => proofsOf(cells).length === 0)).toEqual([]);
});
