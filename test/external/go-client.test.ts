// The module of Go: its own tests against a service, its formatters and linters, and its use in an empty directory, as users have it.

import { homedir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, test, vi } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { modelFlags } from "../conformance/stage.ts";
import { startFakeProvider } from "../fakes/provider.ts";
import { defaultClientId, keyOf } from "../harness/credentials.ts";
import { startService } from "../harness/service.ts";
import { runProgram } from "./program.ts";

/** Go compiles grpc-go and staticcheck once. */
vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 });

const module = join(repositoryRoot, "clients/go");

/** Runs a program in the module, and returns what it printed. */
async function run(name: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const { stdout } = await runProgram(name, args, {
    directory: module,
    // Go caches compiled packages in the user's home.
    environment: { HOME: homedir(), ...environment },
  });
  return stdout.toString();
}

describe.runIf(inject("hasGo"))("the module of Go", () => {
  test("passes its own tests against a service", async () => {
    const provider = await startFakeProvider();
    const { url } = await startService(modelFlags(provider));
    const environment = { RUNNEL_URL: url, RUNNEL_API_KEY: keyOf(), RUNNEL_CLIENT_ID: defaultClientId };
    const printed = await run("go", ["test", "-race", "-count=1", "-v", "./..."], environment);
    expect(printed).toContain("--- PASS: TestFollowYieldsEachResultOnce");
    expect(printed).not.toContain("--- SKIP");
  });

  test("is formatted, and neither vet nor staticcheck finds anything", async () => {
    expect(await run("gofmt", ["-l", "."])).toBe("");
    expect(await run("go", ["vet", "./..."])).toBe("");
    const staticcheck = ["tool", "-modfile=tools/go.mod", "staticcheck", "./..."];
    expect(await run("go", staticcheck)).toBe("");
  });
});
