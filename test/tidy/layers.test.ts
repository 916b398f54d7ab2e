// Checks that src/ keeps its layers and the style rules that a machine can check.

import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { importedLayer } from "./layers.ts";
import { findOffences } from "./rules.ts";
import { readSourceFiles, type SourceFile } from "./source-file.ts";

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
