// The OpenAPI document of a running service, read by other programs: two validators and two generators of clients.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { startService } from "../harness/service.ts";
import { runProgram } from "./program.ts";

/** npm and its registry may be slow. */
vi.setConfig({ testTimeout: 180_000 });

const python = inject("python");
/** npm's cache, proxy and certificates are those of the machine. A compile cache would be left behind. */
const environment = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" };

interface Fetched {
  readonly folder: string;
  readonly file: string;
  readonly operationIds: readonly string[];
}

/** Writes the document into a folder of its own, which is deleted with the test. */
async function fetchDocument(): Promise<Fetched> {
  const folder = mkdtempSync(join(tmpdir(), "runnel-openapi-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { url } = await startService();
  const text = await (await fetch(`${url}/openapi.json`)).text();
  const file = join(folder, "openapi.json");
  writeFileSync(file, text);
  const { paths }: { paths: Record<string, Record<string, { operationId: string }>> } = JSON.parse(text);
  const operationIds = Object.values(paths).flatMap((item) => Object.values(item).map((each) => each.operationId));
  expect(operationIds.length).toBeGreaterThan(100);
  return { folder, file, operationIds };
}

test.runIf(python !== "")("openapi-spec-validator finds no error", async () => {
  const { file } = await fetchDocument();
  const { stdout } = await runProgram(python, ["-m", "openapi_spec_validator", file]);
  expect(stdout.toString()).toContain("OK");
});

test("Redocly finds no error", async () => {
  const { file } = await fetchDocument();
  const args = ["--yes", "@redocly/cli@2.77.0", "lint", file, "--format=json"];
  const { stdout } = await runProgram("npx", args, { environment });
  expect(JSON.parse(stdout.toString()).totals).toMatchObject({ errors: 0 });
});

test.runIf(python !== "")("openapi-python-client makes a function of every operation", async () => {
  const { folder, file, operationIds } = await fetchDocument();
  const output = join(folder, "client");
  const args = ["generate", "--path", file, "--output-path", output, "--meta", "none"];
  const { stdout, stderr } = await runProgram(python, ["-m", "openapi_python_client", ...args]);
  expect(`${stdout}${stderr}`).not.toContain("Endpoint will not be generated");
  const files = await readdir(join(output, "api"), { recursive: true });
  expect(files.filter((each) => /(?<!__init__)\.py$/.test(each))).toHaveLength(operationIds.length);
});

test("openapi-typescript makes a type of every operation", async () => {
  const { folder, file, operationIds } = await fetchDocument();
  const output = join(folder, "api.ts");
  const packages = ["--package", "openapi-typescript@7.13.0", "--package", "typescript@5.9.3"];
  const args = ["--yes", ...packages, "openapi-typescript", file, "--output", output];
  await runProgram("npx", args, { environment });
  const text = await readFile(output, "utf8");
  expect(operationIds.filter((id) => !text.includes(`    ${id}: {`))).toEqual([]);
});
