// A client in a language without a library of Runnel: tonic generates it from the contract, and a program of 170 lines follows a run
// by the rules of docs/resuming.md. clients/README.md describes the way.

import { homedir } from "node:os";
import { join } from "node:path";
import { expect, inject, test, vi } from "vitest";
import { repositoryRoot } from "../../../scripts/run-command.ts";
import { startRun } from "../../fault/cluster.ts";
import { keyOf } from "../../harness/credentials.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { runProgram, startProgram } from "../program.ts";
import { startMortalService, wholeText } from "./killed-service.ts";

/** The first build compiles tonic: a minute of one core. */
vi.setConfig({ testTimeout: 600_000 });

const folder = join(repositoryRoot, "test/external/rust");

test.runIf(inject("hasRust"))(
  "a program in Rust gets the whole text once, although the service is killed",
  async () => {
    const environment = { ...process.env, HOME: homedir() };
    await runProgram("cargo", ["build", "--locked", "--quiet"], { directory: folder, environment });
    const service = await startMortalService();
    const { runId } = await startRun(new GrpcClient(new URL(service.url).host), "go");
    const program = startProgram(join(folder, "target/debug/follow"), [service.url, runId], {
      environment: { RUNNEL_API_KEY: keyOf() },
    });
    await service.killWhen("text at the reader", () => program.stderr().includes("text\n"));
    const { stdout, stderr, exitCode } = await program.finished;
    expect([exitCode, stdout.toString()], stderr).toEqual([0, `${wholeText}\n`]);
    expect(stderr).toContain("going on after");
  },
);
