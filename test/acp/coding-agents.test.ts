// Coding agents as runners, over the whole service: a real program in the jail that speaks ACP by the official SDK.

import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { PlanEntry_Priority, PlanEntry_Status, type RunResult } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { readCodingAgents } from "../../src/protocols/acp/agents.ts";
import { readLog } from "../fault/log-reader.ts";
import { test as base } from "../fixtures.ts";
import type { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { Area } from "../tools/area.ts";
import { hasJail } from "../tools/bash/jailed.ts";
import { endOf, lineOf, openSession, send, short } from "./stage.ts";

const lines = [
  lineOf("coder"),
  lineOf("loader", ["load"]),
  lineOf("resumer", ["resume"]),
  lineOf("trusted", [], { permissions: "allow" }),
  lineOf("private", [], { clients: ["key/stranger"] }),
  lineOf("old", ["old"]),
  lineOf("missing", [], { command: "/opt/no-such-program" }),
];
const flags = { acpAgents: readCodingAgents(lines.join("\n")) ?? [], acpProgramsMax: 2 };
const test = base.extend("service", () => startService(flags));

/** Runs one message, and returns the log. */
async function runOne(client: GrpcClient, message: string, runner = "coder") {
  const sessionId = await openSession(client, { name: "fake", runner });
  return await readLog(client, await send(client, sessionId, message));
}

describe.skipIf(!hasJail)("a coding agent", () => {
  test("shows its thoughts, its plan and its text, and what it used", async ({ client }) => {
    const results = await runOne(client, "talk");
    expect(short(results)).toEqual([
      ["turnStarted"],
      ["reasoningDelta", "Let me think."],
      ["planUpdated", ["Read", PlanEntry_Status.PENDING, PlanEntry_Priority.HIGH]],
      ["messageDelta", expect.stringMatching(/^Hello, (?:world\.)?$/)],
      ...(results.length === 7 ? [["messageDelta", "world."]] : []),
      ["messageCompleted", "Hello, world."],
      ["runCompleted", "stop", "Hello, world."],
    ]);
    expect(results.at(-1)?.usage).toMatchObject({ promptTokens: 7n, completionTokens: 3n, totalTokens: 10n });
  });

  test("says two messages as two, and nothing of another session", async ({ client }) => {
    const told = short(await runOne(client, "twice")).filter(([name]) => name !== "messageDelta");
    expect(told).toEqual([
      ["turnStarted"],
      ["messageCompleted", "One, two."],
      ["messageCompleted", "Three."],
      ["runCompleted", "stop", "Three."],
    ]);
  });

  test.for([
    ["approve", "yes", "line"],
    ["reject", "no", "-32002 Resource not found"],
  ] as const)("asks before an edit: %s", async ([decision, option, line], { client, stranger }) => {
    const area = new Area();
    using _ = area;
    area.giveToSession();
    const sessionId = await openSession(client, { name: "fake", runner: "coder" }, area.root);
    const runId = await send(client, sessionId, "edit");
    const { method } = ApprovalService;
    const approval = await until("the request", async () => {
      const { approvals } = await client.call(method.listApprovals, { runId, state: Approval_State.PENDING });
      return approvals[0];
    });
    const { approvalId, digest } = approval;
    await expect(stranger.call(method.getApproval, { approvalId })).rejects.toThrow("approval not found");
    const { approval: whole } = await client.call(method.getApproval, { approvalId });
    const asked = { title: "Edit a.txt", kind: "edit", diffs: [{ path: "a.txt", old_text: "old", new_text: "new" }] };
    expect(JSON.parse(whole?.request ?? "")).toEqual({ action: "Edit a.txt", payload: asked });
    const choice = decision === "approve" ? Approval_Decision.APPROVE : Approval_Decision.REJECT;
    await client.call(method.decideApproval, { approvalId, digest, decision: choice });
    const told = short(await readLog(client, runId)).filter((each) => each[0] !== "messageDelta");
    const done = {
      content: "",
      title: "Edit a.txt",
      kind: "edit",
      input: { path: "a.txt" },
      locations: [{ path: "a.txt", line: 1 }],
      diffs: asked.diffs,
    };
    expect(told).toEqual([
      ["turnStarted"],
      ["messageCompleted", "I edit it."],
      ["toolCallStarted", "call_1", "edit", { title: "Edit a.txt", kind: "edit", input: { path: "a.txt" } }],
      ["approvalRequested"],
      ["toolCallCompleted", "call_1", decision === "approve" ? done : "refused"],
      ["messageCompleted", `${option}: ${line}`],
      ["runCompleted", "stop", `${option}: ${line}`],
    ]);
    if (decision === "approve") {
      expect(await readFile(join(area.root, "a.txt"), "utf8")).toBe("new\nline");
      const { approval: used } = await client.call(method.getApproval, { approvalId });
      expect(used?.state).toBe(Approval_State.USED);
    }
  });

  test("asks nobody where the operator trusts it", async ({ client }) => {
    const results = await runOne(client, "edit", "trusted");
    expect(results.map(({ payload }) => payload.case)).not.toContain("approvalRequested");
    expect(endOf(results)).toEqual(["runCompleted", "stop", "yes: line"]);
  });

  test("reads and writes through the service only inside its directory", async ({ client, folder }) => {
    const area = new Area();
    using _ = area;
    await symlink(folder, join(area.root, "link"));
    await writeFile(join(folder, "escape.txt"), "outside");
    area.giveToSession();
    const sessionId = await openSession(client, { name: "fake", runner: "coder" }, area.root);
    const [, , text] = endOf(await readLog(client, await send(client, sessionId, "escape"))) as string[];
    expect(text?.trim().split("\n")).toEqual(Array(6).fill(expect.stringContaining("is outside work directory")));
    expect(await readFile(join(folder, "escape.txt"), "utf8")).toBe("outside");
  });

  test("shows no secret of its settings, and sees none of the service", async ({ client }) => {
    const results = await runOne(client, "spy");
    expect(endOf(results)).toEqual(["runCompleted", "stop", "my key is [redacted], undefined"]);
    const refused = await runOne(client, "refuse");
    expect(endOf(refused)).toEqual([
      "runFailed",
      "runner.error",
      "the coding agent coder failed: Authentication required (log in with [redacted])",
    ]);
  });

  test.for([
    ["crash", "the coding agent coder failed: the program ended (status 7)"],
    ["huge", "the coding agent coder failed: the program wrote a message of more than 8388608 bytes"],
  ])("fails its run clearly: %s", async ([message = "", error], { client }) => {
    expect(endOf(await runOne(client, message))).toEqual(["runFailed", "runner.error", error]);
  });

  test("that says what no protocol has is left out, and its run ends", async ({ client }) => {
    expect(short(await runOne(client, "garbage"))).toEqual([
      ["turnStarted"],
      ["planUpdated"],
      ["toolCallStarted", "ghost", "other", { title: "" }],
      ["toolCallCompleted", "ghost", { content: "", title: "" }],
      ["messageDelta", "\ufffdhalf"],
      ["messageCompleted", "\ufffdhalf"],
      ["runCompleted", "stop", "\ufffdhalf"],
    ]);
  });

  test("that floods loses nothing, in messages that a reader can take", async ({ client }) => {
    const whole = short(await runOne(client, "flood")).filter(([name]) => name === "messageCompleted");
    expect(whole.map(([, text]) => String(text).length)).toEqual([1_000_000, 1_000_000]);
  });

  test.for(["hang", "deaf"])("is cancelled, and its program ends: %s", async (message, { client }) => {
    const sessionId = await openSession(client, { name: "fake", runner: "coder" });
    const runId = await send(client, sessionId, message);
    for await (const { results } of client.stream(RunService.method.tailRun, { runId })) {
      if (results.some(({ payload }: RunResult) => payload.case === "messageDelta")) {
        await client.call(RunService.method.cancelRun, { runId });
      }
    }
    expect(endOf(await readLog(client, runId))).toEqual(["runFailed", "cancelled", "context canceled"]);
  });

  test.for([
    ["coder", "The conversation so far:\n\nuser: talk\n\nassistant: Hello, world.|remember"],
    ["loader", "talk,remember"],
    ["resumer", "talk,remember"],
  ])("continues the conversation: %s", async ([runner = "", told], { client }) => {
    const sessionId = await openSession(client, { name: "fake", runner });
    await readLog(client, await send(client, sessionId, "talk"));
    const [, , text = ""] = endOf(await readLog(client, await send(client, sessionId, "remember"))) as string[];
    expect(String(JSON.parse(text))).toBe(told);
  });

  test.for([
    ["old", "the coding agent old did not start: it speaks version 0 of ACP, and this service speaks 1"],
    ["missing", expect.stringContaining("the coding agent missing did not start: the program")],
  ] as const)("that does not start says why: %s", async ([runner, error], { client }) => {
    expect(endOf(await runOne(client, "talk", runner))).toEqual(["runFailed", "runner.unavailable", error]);
  });

  test("is a preset, and belongs to its clients", async ({ client }) => {
    const { presets } = await client.call(SessionService.method.listPresets, {});
    expect(presets.map(({ name, runner }) => [name, runner])).toContainEqual(["coder", "coder"]);
    await expect(runOne(client, "talk", "private")).rejects.toThrow(
      'invalid agent.runner: there is no runner "private": name one of coder, loader, resumer, trusted, old, missing, or leave it unset',
    );
    const tools = { builtin: ["read_file"] };
    const sessionId = await openSession(client, { name: "fake", runner: "coder", tools });
    await expect(send(client, sessionId, "talk")).rejects.toThrow(
      "invalid agent.tools.builtin: the runner coder has its own tools: leave it unset",
    );
  });

  test("waits while the replica runs its maximum", async ({ client }) => {
    const runs = await Promise.all(["talk", "talk", "talk", "talk"].map((message) => runOne(client, message)));
    expect(runs.map(endOf)).toEqual(Array(4).fill(["runCompleted", "stop", "Hello, world."]));
    const parked = runs.flatMap((results) =>
      results.flatMap(({ payload }) => (payload.case === "runWaiting" ? [payload.value.reason] : [])),
    );
    expect(parked).toContain("this replica runs its maximum of 2 coding agents");
  });
});
