// The first calls of the README in each language, as they are except for the port.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { modelFlags } from "../conformance/stage.ts";
import { blockOf } from "../docs/page-blocks.ts";
import { answer, startFakeProvider } from "../fakes/provider.ts";
import { startService } from "../harness/service.ts";
import { runProgram } from "./program.ts";

/** Go compiles grpc-go once. */
vi.setConfig({ testTimeout: 240_000 });

const python = inject("python");
const readme = readFileSync(join(repositoryRoot, "README.md"), "utf8");
const goPage = readFileSync(join(repositoryRoot, "docs/call/go.md"), "utf8");

interface Place {
  readonly folder: string;
  readonly port: string;
}

/** A folder with the files that the README assumes, and a service that requires no credentials. */
async function prepare(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "runnel-first-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["proto", "third_party", "gen", "node_modules", "package.json"]) {
    symlinkSync(join(repositoryRoot, name), join(folder, name));
  }
  const provider = await startFakeProvider();
  provider.respond(answer("hello, reader"));
  const { url } = await startService({ ...modelFlags(provider), authApiKeys: [] });
  return { folder, port: new URL(url).port };
}

/** An example with the port of the service. */
function exampleOf(name: string, { port }: Place): string {
  return readFileSync(join(repositoryRoot, "examples", name), "utf8").replaceAll("8090", port);
}

/** The calls by curl in the README, with the port of the service. */
function curlCalls({ port }: Place): string {
  const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
  const block = blocks.find((code) => code.includes("8090")) ?? expect.unreachable("no call by curl");
  return block.replaceAll("8090", port);
}

/** The environment of a user's shell. */
const environment = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1", PYTHONDONTWRITEBYTECODE: "1" };

test("curl", async () => {
  const place = await prepare();
  const { stdout } = await runProgram("bash", ["-euc", curlCalls(place)], { environment });
  expect(stdout.toString()).toContain('"content":"hello, reader"');
});

test("the page for curl", async () => {
  const { port } = await prepare();
  const block = blockOf("docs/call/curl.md", "sh", `http://127.0.0.1:${port}`);
  const { stdout } = await runProgram("bash", ["-euc", block], { environment });
  expect(stdout.toString()).toContain('"content":"hello, reader"');
});

test.runIf(python !== "").each(["docs/call/openai.md", "docs/call/anthropic.md"])("%s in Python", async (page) => {
  const { port } = await prepare();
  const block = blockOf(page, "python", `http://127.0.0.1:${port}`);
  const { stdout } = await runProgram(python, ["-c", `RUNNEL_KEY = "a key"\n${block}`], { environment });
  expect(stdout.toString()).toContain("hello, reader");
});

test("TypeScript", async () => {
  const place = await prepare();
  const file = join(place.folder, "first-call.ts");
  writeFileSync(file, exampleOf("first-call.ts", place));
  const { stdout } = await runProgram(process.execPath, ["--preserve-symlinks-main", file], { environment });
  expect(stdout.toString()).toBe("hello, reader");
});

test.runIf(python !== "")("Python", async () => {
  const place = await prepare();
  writeFileSync(join(place.folder, "first_call.py"), exampleOf("first_call.py", place));
  const line = `cd '${place.folder}' && exec '${python}' first_call.py`;
  const { stdout } = await runProgram("bash", ["-euc", line], { environment });
  expect(stdout.toString()).toBe("hello, reader");
});

// A module beside a checkout named `runnel`, as docs/call/go.md describes. The versions are those of the Go runner.
test.runIf(inject("hasGo"))("Go", async () => {
  const place = await prepare();
  const module = join(place.folder, "example");
  mkdirSync(module);
  symlinkSync(repositoryRoot, join(module, "runnel"));
  const goRunner = join(repositoryRoot, "test/external/runners/go");
  const goMod = readFileSync(join(goRunner, "go.mod"), "utf8");
  writeFileSync(join(module, "go.mod"), goMod.replace(/^module .*/, "module example"));
  cpSync(join(goRunner, "go.sum"), join(module, "go.sum"));
  const template = /```yaml\n {3}# buf\.gen\.yaml\n([\s\S]*?)```/.exec(goPage)?.[1] ?? expect.unreachable();
  writeFileSync(join(module, "buf.gen.yaml"), template.replaceAll(/^ {3}/gm, ""));
  writeFileSync(join(module, "main.go"), exampleOf("first-call.go", place));
  const buf = join(repositoryRoot, "node_modules/.bin/buf");
  const line = `cd '${module}' && '${buf}' generate && exec go run .`;
  const { stdout } = await runProgram("bash", ["-euc", line], { environment: { ...environment, HOME: homedir() } });
  expect(stdout.toString()).toBe("hello, reader");
});
