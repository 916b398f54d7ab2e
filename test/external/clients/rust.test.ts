// The crate of Rust: its format, linter and tests, the conformance kit, and the programs of its page in an empty directory.

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { repositoryRoot } from "../../../scripts/run-command.ts";
import { cases, runCases } from "../../clients/kit.ts";
import { programSubject } from "../../clients/subject.ts";
import { modelFlags } from "../../conformance/stage.ts";
import { answer, callTools } from "../../fakes/provider.ts";
import { openProvider } from "../../fixtures.ts";
import { keyOf } from "../../harness/credentials.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { runProgram, startProgram } from "../program.ts";
import { startTlsService } from "../tls-service.ts";
import { startMortalService, wholeText } from "./killed-service.ts";

/** The first build compiles tonic and rustls: minutes of one core. */
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const source = join(repositoryRoot, "clients/rust");
const target = process.env.CARGO_TARGET_DIR ?? join(source, "target");
/** The same profile everywhere, so that what the crate needs is compiled once. */
const environment = { ...process.env, HOME: homedir(), CARGO_TARGET_DIR: target, CARGO_PROFILE_DEV_DEBUG: "false" };
const readme = readFileSync(join(source, "README.md"), "utf8");
const keyEnvironment = { RUNNEL_API_KEY: keyOf() };

/** Runs Cargo, with the packages of Cargo.lock. Rejects with its output unless it succeeds. */
async function cargo(directory: string, ...words: readonly string[]): Promise<void> {
  await promisify(execFile)("cargo", words, { cwd: directory, env: environment });
}

describe.runIf(inject("hasRust"))("the crate of Rust", () => {
  const subject = join(target, "debug/examples/subject");
  beforeAll(() => cargo(source, "build", "--locked", "--quiet", "--example", "subject"));

  test("is formatted, and clippy finds nothing", async () => {
    await cargo(source, "fmt", "--check");
    await cargo(source, "clippy", "--locked", "--quiet", "--all-targets", "--", "--deny", "warnings");
  });

  test("passes its own tests, and every program of its page compiles", () =>
    cargo(source, "test", "--locked", "--quiet"));

  test("is complete as a package", () => cargo(source, "package", "--locked", "--quiet", "--allow-dirty"));

  test("passes the conformance kit for clients", async () => {
    const verdicts = await runCases(cases, programSubject(subject, []), { atATime: 4 });
    expect(verdicts.length).toBeGreaterThan(100);
    expect(verdicts.filter(({ problems }) => problems.length > 0)).toEqual([]);
  });

  test("calls over TLS, and refuses an authority that the system does not trust", async () => {
    const { url, caFile } = await startTlsService();
    const request = { url, credentials: { api_key: keyOf() }, call: "follow", run_id: "unknown" };
    const follow = async (timeoutMs: number, trust: NodeJS.ProcessEnv) => {
      const input = `${JSON.stringify({ ...request, timeout_ms: timeoutMs })}\n`;
      const { stdout } = await runProgram(subject, [], { input, environment: trust });
      return JSON.parse(stdout.toString()).error;
    };
    expect(await follow(20_000, { SSL_CERT_FILE: caFile })).toMatchObject({
      code: "INVALID_ARGUMENT",
      violations: [{ field: "run_id" }],
    });
    expect(await follow(2_000, {})).toMatchObject({
      code: "DEADLINE_EXCEEDED",
      message: expect.stringContaining("the last failure"),
    });
  });
});

describe.runIf(inject("hasRust"))("the crate of Rust, in an empty directory,", () => {
  let root = "";
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), "runnel-crate-"));
    await cargo(root, "init", "--quiet", "--vcs", "none", "--name", "example", ".");
    // The versions that were fetched for the crate.
    writeFileSync(join(root, "Cargo.lock"), readFileSync(join(source, "Cargo.lock")));
    await cargo(root, "add", "--quiet", "--path", source);
    await cargo(root, "add", "--quiet", "tokio", "--features", "macros,rt-multi-thread");
    await cargo(root, "add", "--quiet", "serde", "--features", "derive");
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  /** Builds a program of the page for the service at `url`, and returns its path. */
  async function build(name: string, url: string): Promise<string> {
    const blocks = readme.split("```rust,no_run\n");
    const [code = ""] = blocks.find((each) => each.startsWith(`// ${name}.rs\n`))?.split("```") ?? [];
    writeFileSync(join(root, "src/main.rs"), code.replaceAll("http://127.0.0.1:8090", url));
    await cargo(root, "build", "--quiet");
    return join(target, "debug/example");
  }

  test("follows a run to its end while the service is killed and comes back, and has the text once", async () => {
    const service = await startMortalService();
    const program = startProgram(await build("main", service.url), [], { environment: keyEnvironment });
    await service.killWhen("text at the reader", () => program.stdout().includes("message.delta"));
    const { stdout, stderr, exitCode } = await program.finished;
    expect([exitCode, stderr]).toEqual([0, ""]);
    const lines = stdout.toString().trimEnd().split("\n");
    expect(lines.pop()).toBe(wholeText);
    expect(lines.map((line) => Number.parseInt(line, 10))).toEqual(lines.map((_, index) => index + 1));
    expect(lines.some((line) => line.endsWith(" turn.restarted"))).toBe(true);
  });

  test("runs functions, reads an answer as a type, and verifies the receipt of a run", async () => {
    const provider = await openProvider();
    const { url, target: address } = await startService(modelFlags(provider));
    const options = { environment: keyEnvironment };
    provider.respond(callTools({ id: "c-1", name: "add", arguments: '{"a":2,"b":3}' }), answer("It is 5."));
    const asked = await runProgram(await build("ask", url), [], options);
    expect(asked.stdout.toString()).toBe("It is 5.\n");
    expect(provider.requests.at(-1)?.body.messages.find(({ role }) => role === "tool")).toMatchObject({
      tool_call_id: "c-1",
      content: "5",
    });
    provider.respond(answer('{"name":"Rome","people":2755000}'));
    const parsed = await runProgram(await build("city", url), [], options);
    expect(parsed.stdout.toString()).toBe("Rome has 2755000 people\n");
    const { runs } = await new GrpcClient(address).call(RunService.method.listRuns, {});
    const runId = runs[0]?.runId ?? expect.unreachable();
    const verified = await runProgram(await build("receipt", url), [runId], options);
    expect(verified.stdout.toString()).toMatch(new RegExp(`^${runId} completed [0-9]+\n$`));
  });
});
