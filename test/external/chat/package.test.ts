// `@runnel/chat` as its users have it: packed, and installed into an empty folder. It is small, its types are found, and a server that
// renders pages can load it.

import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { repositoryRoot, runCommand } from "../../../scripts/run-command.ts";
import { startProgram } from "../program.ts";
import { installChat } from "./stage.ts";

vi.setConfig({ hookTimeout: 240_000 });

/** What a visitor downloads, compressed: everything but React. */
const scriptMaxBytes = 30_000;
const folder = mkdtempSync(join(tmpdir(), "runnel-chat-"));
let tarball: Buffer<ArrayBuffer>;

beforeAll(async () => {
  await installChat(folder);
  const [name = ""] = readdirSync(folder).filter((each) => each.endsWith(".tgz"));
  tarball = readFileSync(join(folder, name));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(["@runnel/chat", "@runnel/chat/react"])("the whole of %s is below 30 KB", async (entry) => {
  const input = join(folder, "entry.js");
  writeFileSync(input, `export * from "${entry}";`);
  await using bundle = await rolldown({ input, external: ["react"], platform: "browser" });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  expect(output).toHaveLength(1);
  expect(output[0].code).toContain("runnel-chat");
  expect(gzipSync(output[0].code).length).toBeLessThan(scriptMaxBytes);
});

test("it brings no other package", () => {
  const names = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
  expect(names).toEqual(["@runnel"]);
  const licences = readFileSync(join(folder, "node_modules/@runnel/chat/dist/THIRD-PARTY-LICENSES"), "utf8");
  expect(licences).toMatch(/eventsource-parser[\s\S]*streaming-markdown/);
});

test("publint and arethetypeswrong find nothing", async () => {
  const { messages } = await publint({ pack: { tarball: Uint8Array.from(tarball).buffer }, strict: true });
  expect(messages).toEqual([]);
  const result = await checkPackage(createPackageFromTarballData(tarball), { entrypoints: [".", "./react"] });
  const problems = result.types === false ? expect.unreachable("no types") : result.problems;
  // The package is ESM only: Node loads it with `require` too. The resolution of Node 10 knows no `exports`.
  const shown = problems.filter((each) => !("resolutionKind" in each && each.resolutionKind === "node10"));
  expect(shown.filter(({ kind }) => kind !== "CJSResolvesToESM")).toEqual([]);
});

test("the component of the README type-checks, and a server renders it", async () => {
  const packages = join(repositoryRoot, "node_modules");
  for (const name of ["react", "react-dom", "@types"]) {
    symlinkSync(join(packages, name), join(folder, "node_modules", name));
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const readme = readFileSync(join(repositoryRoot, "clients/chat/README.md"), "utf8");
  const [, component = ""] = /```tsx\n([\s\S]*?)```/.exec(readme) ?? [];
  writeFileSync(join(folder, "support.tsx"), component);
  const options = ["--strict", "--jsx", "react-jsx", "--module", "nodenext", "--target", "es2024", "--rootDir", folder];
  const types = ["--types", "react", "--typeRoots", join(packages, "@types")];
  await runCommand("tsc", ["--ignoreConfig", ...options, ...types, "--outDir", folder, join(folder, "support.tsx")]);
  const program = `import { renderToString } from "react-dom/server";
import { createElement } from "react";
import { Support } from "./support.js";
console.log(renderToString(createElement(Support)));`;
  writeFileSync(join(folder, "render.js"), program);
  const { stdout, stderr } = await startProgram(process.execPath, [join(folder, "render.js")]).finished;
  expect(stdout.toString(), stderr).toMatch(/^<runnel-chat endpoint="https:\/\/[^"]+"[^>]*><\/runnel-chat>\n$/);
});
