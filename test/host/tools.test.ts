// Tools as runners use them through their host: the real ones, confined to the directory of the run's session.

import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { test as base, describe, expect } from "vitest";
import { CallToolRequestSchema, GetToolRequestSchema } from "#gen/runnel/host/v1/host_tool_service_pb.js";
import { findTool } from "../../src/protocols/langbot/host/tools.ts";
import { until } from "../harness/wait.ts";
import { ask, contextOf, openThinking, type ThinkingOptions } from "./thinking-stage.ts";

const test = base.extend("stage", () => openStage());

const granted = Object.fromEntries(
  ["write_file", "read_file", "bash", "list_dir", "homemade"].map((name) => [name, ["detail", "call"]]),
);

async function openStage({ flags = {}, grant = { tools: granted } }: ThinkingOptions = {}) {
  const stage = await openThinking({ flags, grant });
  const { thinking, runId } = stage;
  const call = async (toolName: string, parameters: object | string, context = stage.context) => {
    const request: MessageInitShape<typeof CallToolRequestSchema> = {
      runId,
      toolName,
      parameters: typeof parameters === "string" ? parameters : JSON.stringify(parameters),
    };
    const { result = "" } = await ask(thinking.callTool, CallToolRequestSchema, request, context);
    return JSON.parse(result);
  };
  const detail = async (toolName: string) => {
    const { tool = "" } = await ask(thinking.getTool, GetToolRequestSchema, { runId, toolName }, stage.context);
    return JSON.parse(tool);
  };
  const countCalls = async () => {
    const [row] = await stage.db.selectFrom("remote_run").select("tool_calls").where("run_id", "=", runId).execute();
    return row?.tool_calls;
  };
  return { ...stage, call, detail, countCalls };
}

describe("a tool", () => {
  test("has the description that models get", async ({ stage: { detail } }) => {
    expect(await detail("read_file")).toEqual({
      name: "read_file",
      description: expect.stringMatching(/\w/),
      parameters: expect.objectContaining({ type: "object" }),
    });
  });

  test("that this service does not offer is not found, and one that is not granted is refused", async () => {
    const { detail, call } = await openStage();
    await expect(detail("homemade")).rejects.toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
    await expect(call("homemade", {})).rejects.toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
    await expect(detail("glob")).rejects.toMatchObject({ reason: "GRANT_REFUSED" });
    await expect(call("glob", {})).rejects.toMatchObject({ reason: "GRANT_REFUSED" });
  });

  test("with only its description granted cannot be called", async () => {
    const { call, detail } = await openStage({ grant: { tools: { read_file: ["detail"] } } });
    expect(await detail("read_file")).toMatchObject({ name: "read_file" });
    await expect(call("read_file", {})).rejects.toMatchObject({ reason: "GRANT_REFUSED" });
  });

  test("is found for grants by its name", async ({ stage: { selectTools: select } }) => {
    expect(findTool({ toolbox: { select } }, "read_file")).toMatchObject({ name: "read_file" });
    expect(findTool({ toolbox: { select } }, "homemade")).toBeUndefined();
  });
});

describe("a call", () => {
  test("works in the directory of the run's session, and the next call finds its files", async () => {
    const { call, workRoot, countCalls } = await openStage();
    await call("write_file", { file_path: "note.txt", content: "from a runner" });
    expect(await call("read_file", { file_path: "note.txt" })).toEqual({
      content: expect.stringContaining("from a runner"),
    });
    const [owner = ""] = await readdir(workRoot);
    const [session = ""] = await readdir(join(workRoot, owner));
    expect(await readdir(join(workRoot, owner, session))).toEqual(["note.txt"]);
    expect(await countCalls()).toBe(2);
  });

  test("of bash runs a command there, in the jail", async ({ stage: { call } }) => {
    const { content } = await call("bash", { command: "echo hello > made.txt && cat made.txt && ls /" });
    expect(content).toContain("hello");
    expect(await call("read_file", { file_path: "made.txt" })).toMatchObject({
      content: expect.stringContaining("hello"),
    });
  });

  test("reaches no file outside, nor those of another run's session", async ({ stage: { call, workRoot } }) => {
    await mkdir(join(workRoot, "other"), { recursive: true });
    await writeFile(join(workRoot, "other", "secret.txt"), "not yours");
    for (const path of ["/etc/passwd", "../../other/secret.txt", join(workRoot, "other", "secret.txt")]) {
      await expect(call("read_file", { file_path: path })).rejects.toMatchObject({ reason: "HOST_CALL_FAILED" });
    }
  });

  test("that fails is not retryable, and the run continues", async ({ stage: { call, db, runId } }) => {
    await expect(call("read_file", { file_path: "nowhere.txt" })).rejects.toMatchObject({
      reason: "HOST_CALL_FAILED",
      message: expect.stringMatching(/^tool read_file failed: .*nowhere\.txt/),
    });
    expect(await call("list_dir", { path: "." })).toHaveProperty("content");
    const run = await db.selectFrom("run").select("status").where("id", "=", runId).executeTakeFirstOrThrow();
    expect(run.status).toBe("queued");
  });

  test.for(["{", "[]", "1", '"x"', "null"])(
    "with arguments like %s is refused and does not count",
    async (parameters, { stage: { call, countCalls } }) => {
      await expect(call("read_file", parameters)).rejects.toMatchObject({
        reason: "INVALID_ARGUMENT",
        violations: [{ field: "parameters" }],
      });
      expect(await countCalls()).toBe(0);
    },
  );

  test("with arguments that the tool cannot use fails as it does for a model", async ({ stage: { call } }) => {
    await expect(call("read_file", "")).rejects.toMatchObject({
      reason: "HOST_CALL_FAILED",
      message: expect.stringContaining("file_path"),
    });
  });

  test("has the maximum output of any tool", async ({ stage: { call } }) => {
    await call("write_file", { file_path: "long.txt", content: "word ".repeat(60_000) });
    const { content } = await call("bash", { command: "cat long.txt" });
    expect(content).toContain("truncated");
    expect(Buffer.byteLength(content)).toBeLessThan(110_000);
  });

  test("beyond the quota of the run is refused for good, even with concurrent calls", async () => {
    const { call, countCalls } = await openStage({ flags: { hostToolCalls: 3 } });
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => call("list_dir", { path: "." })));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    await expect(call("list_dir", { path: "." })).rejects.toMatchObject({
      reason: "QUOTA_EXHAUSTED",
      message: "the run has reached its maximum of tool calls (3)",
      retryAfterMs: undefined,
    });
    expect(await countCalls()).toBe(3);
  });

  test("is stopped when its caller leaves", async ({ stage: { call, runId } }) => {
    const leave = new AbortController();
    // The number makes it unique among all commands.
    const command = `sleep 6${process.pid}`;
    const slow = call("bash", { command }, contextOf(runId, leave.signal));
    slow.catch(() => {});
    await until("the command runs", async () => await isRunning(command));
    leave.abort(new Error("the caller left"));
    await expect(slow).rejects.toThrow("the caller left");
    await until("the command is gone", async () => !(await isRunning(command)));
  });
});

async function isRunning(command: string): Promise<boolean> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return lines.includes(`${command.replace(" ", "\0")}\0`);
}
