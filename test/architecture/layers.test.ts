// Checks that src/ keeps its layers and the style rules that a machine can check, that no files import each other in a circle,
// and that late imports are late.

import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { findCircles } from "./circles.ts";
import { findDefeated } from "./late-imports.ts";
import { importedLayer } from "./layers.ts";
import { findOffences } from "./rules.ts";
import { parseSourceFile, readSourceFiles, type SourceFile } from "./source-file.ts";

let files: SourceFile[];

beforeAll(async () => {
  files = await readSourceFiles(join(import.meta.dirname, "../../src"));
});

test("the checks see files, and imports between layers", () => {
  const imports = files.flatMap((file) => file.imports.map(({ specifier }) => importedLayer(file.path, specifier)));
  expect(files.length).toBeGreaterThan(0);
  expect(imports.filter((layer) => layer === "platform/base").length).toBeGreaterThan(0);
});

test("no file in src breaks a rule", () => {
  expect(findOffences(files)).toEqual([]);
});

test.each(["src", "test", "clients/chat/src", "clients/typescript/src", "console/src"])(
  "no files in %s import each other",
  async (folder) => {
    const found = await readSourceFiles(join(import.meta.dirname, "../..", folder));
    expect(found.flatMap(({ imports }) => imports).length).toBeGreaterThan(30);
    expect(findCircles(found)).toEqual([]);
  },
);

test("nothing that is loaded late is loaded at the start too", () => {
  expect(files.flatMap(({ imports }) => imports.filter(({ loads }) => loads === "late")).length).toBeGreaterThan(10);
  expect(findDefeated(files)).toEqual([]);
  const planted = [
    parseSourceFile(
      "main.ts",
      'import "./open.ts";\nimport type { A } from "./other.ts";\nimport { b } from "./use.ts";',
    ),
    parseSourceFile("open.ts", 'await import("./slow.ts");\nawait import("./other.ts");'),
    parseSourceFile("use.ts", 'import { limit } from "./slow.ts";'),
  ];
  expect(findDefeated(planted)).toEqual(["open.ts slow.ts"]);
});

test.each([
  ["of types", 'import type { B } from "./b.ts";', 'import type { A } from "./a.ts";'],
  ["with a late import", 'import { b } from "./b.ts";', 'const a = await import("./a.ts");'],
  ["in a built client", 'export { b } from "./b.js";', 'import "../x/a.js";'],
])("a circle %s is found", (_, ofA, ofB) => {
  const planted = [
    parseSourceFile("x/start.ts", 'import { a } from "./a.ts";'),
    parseSourceFile("x/a.ts", ofA),
    parseSourceFile("x/b.ts", `${ofB}\nimport "./end.ts";`),
    parseSourceFile("x/end.ts", 'import "./missing.ts";'),
  ];
  expect(findCircles(planted)).toEqual([["x/a.ts", "x/b.ts"]]);
});
