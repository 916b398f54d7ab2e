// MCP servers of others as tools of an agent, unmodified: programs that npm installs, as `packages` pins them, and the jail runs.

import { cp, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { runCommand } from "../../../scripts/run-command.ts";
import { callAll, openWorkDir, type ServerProgram } from "./call-server.ts";

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

/** The program of an official server. */
const programOf = (server: string, args: readonly string[], env: object = {}): ServerProgram => ({
  command: process.execPath,
  args: [join(packages, `node_modules/@modelcontextprotocol/server-${server}/dist/index.js`), ...args],
  env,
  folders: [packages, dirname(process.execPath)],
});

test("server-everything: an echo, a sum, and a long operation whose progress is in the log", async () => {
  const { ends, results } = await callAll(programOf("everything", ["stdio"]), await openWorkDir(), [
    { name: "echo", args: { message: "hello" } },
    { name: "get-sum", args: { a: 2, b: 3 } },
    { name: "trigger-long-running-operation", args: { duration: 2, steps: 4 } },
  ]);
  expect(ends).toEqual([
    expect.stringContaining("hello"),
    expect.stringContaining("5"),
    expect.stringContaining("completed"),
  ]);
  expect(results.filter(({ payload }) => payload.case === "toolCallProgress").length).toBeGreaterThan(0);
});

test("server-everything: a form of every kind of field, filled in by a person", async () => {
  const calls = [{ name: "trigger-elicitation-request", args: {} }];
  const values = { name: "Ada", check: true, integer: 42, email: "ada@example.com" };
  const { ends } = await callAll(programOf("everything", ["stdio"]), await openWorkDir(), calls, values);
  expect(ends).toEqual([expect.stringMatching(/Ada[\s\S]*ada@example\.com/)]);
});

test("server-filesystem: reads and writes files of the session's work directory, and none beside it", async () => {
  const workDir = await openWorkDir();
  const { ends } = await callAll(programOf("filesystem", ["{work_dir}"]), workDir, [
    { name: "read_text_file", args: { path: "note.txt" } },
    { name: "write_file", args: { path: "new.txt", content: "written" } },
    { name: "read_text_file", args: { path: "/etc/passwd" } },
  ]);
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
  const program = programOf("memory", [], { MEMORY_FILE_PATH: "/tmp/memory.jsonl" });
  const { ends } = await callAll(program, await openWorkDir(), calls);
  expect(ends[1]).toContain("is quiet");
});
