// MCP servers of others as tools of an agent, unmodified: programs that npm installs, as `packages` pins them, and the jail runs. The model
// is a fake; the service, the jail and the servers are real.

import { cp, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { runCommand } from "../../../scripts/run-command.ts";
import { readMcpServers } from "../../../src/platform/config/mcp-servers.ts";
import { modelFlags } from "../../conformance/stage.ts";
import { answer, callTools, startFakeProvider } from "../../fakes/provider.ts";
import { openFolder } from "../../fixtures.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";

const installMaxMs = 600_000;

let packages: string;

beforeAll(async () => {
  // npm would leave its compile cache behind.
  vi.stubEnv("NODE_DISABLE_COMPILE_CACHE", "1");
  packages = await realpath(await mkdtemp(join(tmpdir(), "runnel-mcp-servers-")));
  await cp(join(import.meta.dirname, "packages"), packages, { recursive: true });
  await runCommand("npm", ["ci", "--prefix", packages, "--ignore-scripts", "--no-audit", "--no-fund"]);
  return async () => {
    vi.unstubAllEnvs();
    await rm(packages, { recursive: true });
  };
}, installMaxMs);

interface Called {
  readonly name: string;
  readonly args: object;
}

/** Runs an agent whose model makes these calls, one a turn. Returns the results of the calls, and the whole log. */
async function callAll(server: string, args: readonly string[], calls: readonly Called[], env: object = {}) {
  await using provider = await startFakeProvider();
  const workDir = await realpath(await openFolder());
  await writeFile(join(workDir, "note.txt"), "the harbour is quiet");
  const program = {
    command: process.execPath,
    args: [join(packages, `node_modules/@modelcontextprotocol/server-${server}/dist/index.js`), ...args],
    env,
    folders: [packages, dirname(process.execPath)],
  };
  const service = await startService({
    ...modelFlags(provider),
    mcpServers: readMcpServers(`srv=${JSON.stringify(program)}`) ?? [],
    sessionsWorkDirs: ["/"],
  });
  provider.respond(
    ...calls.map(({ name, args: given }, index) =>
      callTools({ id: `call_${index}`, name: `srv_${name}`, arguments: JSON.stringify(given) }),
    ),
    answer("done"),
  );
  const client = new GrpcClient(service.target);
  const agent = { name: "tester", tools: { mcp: [{ name: "srv" }] } };
  const { sessionId } = await client.call(SessionService.method.createSession, { agent, workDir });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "go" });
  const results: RunResult[] = [];
  for await (const batch of client.stream(RunService.method.tailRun, { runId })) {
    results.push(...batch.results);
  }
  const ends = results.flatMap(({ payload }) =>
    payload.case === "toolCallCompleted" ? [payload.value.error || payload.value.result] : [],
  );
  expect(results.at(-1)?.payload).toMatchObject({ case: "runCompleted" });
  return { ends, results, workDir };
}

test("server-everything: an echo, a sum, and a long operation whose progress is in the log", async () => {
  const { ends, results } = await callAll(
    "everything",
    ["stdio"],
    [
      { name: "echo", args: { message: "hello" } },
      { name: "get-sum", args: { a: 2, b: 3 } },
      { name: "trigger-long-running-operation", args: { duration: 2, steps: 4 } },
    ],
  );
  expect(ends).toEqual([
    expect.stringContaining("hello"),
    expect.stringContaining("5"),
    expect.stringContaining("completed"),
  ]);
  expect(results.filter(({ payload }) => payload.case === "toolCallProgress").length).toBeGreaterThan(0);
});

test("server-filesystem: reads and writes files of the session's work directory, and none beside it", async () => {
  const { ends, workDir } = await callAll(
    "filesystem",
    ["{work_dir}"],
    [
      { name: "read_text_file", args: { path: "note.txt" } },
      { name: "write_file", args: { path: "new.txt", content: "written" } },
      { name: "read_text_file", args: { path: "/etc/passwd" } },
    ],
  );
  expect(ends).toEqual([
    expect.stringContaining("the harbour is quiet"),
    expect.stringContaining("new.txt"),
    expect.stringContaining("denied"),
  ]);
  expect(await readFile(join(workDir, "new.txt"), "utf8")).toBe("written");
});

test("server-memory: what one call stores the next one finds", async () => {
  const entities = [{ name: "harbour", entityType: "place", observations: ["is quiet"] }];
  const calls = [
    { name: "create_entities", args: { entities } },
    { name: "read_graph", args: {} },
  ];
  const { ends } = await callAll("memory", [], calls, { MEMORY_FILE_PATH: "/tmp/memory.jsonl" });
  expect(ends[1]).toContain("is quiet");
});
