// Approvals as interrupts, for the official clients: the run ends for its client, and the answer begins the next one.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BaseEvent, HttpAgent } from "@ag-ui/client";
import { describe, expect, test } from "vitest";
import { Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { answer, callTools } from "../fakes/provider.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { openFolder } from "../fixtures.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { ask, clients, openAgent, setAgUiStage, textsOf } from "./stage.ts";

interface Interrupt {
  readonly id: string;
  readonly reason: string;
  readonly toolCallId: string;
  readonly expiresAt: string;
  readonly metadata: { readonly runnel: { readonly action: string; readonly digest: string } };
}

const write = (id: string, path: string) => ({
  id,
  name: "write_file",
  arguments: JSON.stringify({ file_path: path, content: "new" }),
});

type Agent = (typeof clients)[number]["Agent"];

async function openStage(Agent: Agent, more: object = {}) {
  const tools = { builtin: ["write_file", "list_dir"], approve: ["write_file"], ...more };
  const stage = await setAgUiStage({ agentPresets: [`careful=${JSON.stringify({ tools })}`] });
  const client = new GrpcClient(stage.service.target);
  // The thread's session exists, so that the test knows its work directory.
  const workDir = await openFolder();
  await client.call(SessionService.method.createSession, { sessionId: "thread-1", preset: "careful", workDir });
  const open = () => openAgent(Agent, stage.service.url, { preset: "careful" });
  return { ...stage, client, workDir, open, agent: open() };
}

type Input = Parameters<HttpAgent["runAgent"]>[0];

/** Runs an agent. Returns the events of the run. */
async function run(agent: HttpAgent, input: Input = {}): Promise<BaseEvent[]> {
  const events: BaseEvent[] = [];
  await agent.runAgent(input, { onEvent: ({ event }) => void events.push(event) });
  return events;
}

function interruptsOf(events: readonly BaseEvent[]): readonly Interrupt[] {
  const last = events.at(-1) as BaseEvent & { outcome?: { type: string; interrupts: Interrupt[] } };
  expect(last).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "interrupt" } });
  return last.outcome?.interrupts ?? [];
}

function resolve(id: string | undefined, approved: boolean, comment?: string) {
  return { interruptId: id ?? "", status: "resolved" as const, payload: { approved, ...(comment && { comment }) } };
}

describe.each(clients)("by $name", ({ Agent, isV1 }) => {
  test("a call is interrupted, approved and answered under the next run id", async () => {
    const { agent, provider, printed, workDir, service } = await openStage(Agent);
    provider.respond(callTools({ id: "c0", name: "list_dir", arguments: "{}" }, write("c1", "a.txt")), answer("done"));
    ask(agent, "go");
    const first = await run(agent, { runId: "r1" });
    const [interrupt, ...others] = interruptsOf(first);
    expect(others).toEqual([]);
    expect(interrupt).toMatchObject({
      reason: "tool_call",
      toolCallId: "c1",
      responseSchema: { required: ["approved"] },
      metadata: { runnel: { action: "write_file", digest: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    });
    expect(Date.parse(interrupt?.expiresAt ?? "") - Date.now()).toBeGreaterThan(86_000_000);
    expect(existsSync(join(workDir, "a.txt"))).toBe(false);
    const resume = [resolve(interrupt?.id, true)];
    const second = await run(agent, { runId: "r2", resume });
    expect(second.map(({ type }) => type)).not.toContain("TOOL_CALL_START");
    expect(second[0]).toMatchObject({ type: "RUN_STARTED", threadId: "thread-1", runId: "r2" });
    expect(second.filter(({ type }) => type === "TOOL_CALL_RESULT")).toMatchObject([
      { toolCallId: "c0" },
      { toolCallId: "c1", content: expect.stringContaining("a.txt") },
    ]);
    expect(second.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId: "r2", outcome: { type: "success" } });
    expect(await readFile(join(workDir, "a.txt"), "utf8")).toBe("new");
    expect(textsOf(agent).map(([role]) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
    expect(printed).toEqual([]);
    // The next message continues the thread without a fork.
    provider.respond(answer("again"));
    ask(agent, "more");
    await run(agent);
    expect(textsOf(agent).at(-1)).toEqual(["assistant", "again"]);
    expect(await query(service.databaseUrl, "select from session")).toHaveLength(1);
    await expectInvariants(service.databaseUrl);
  });

  test("a rejected call does not run, and its reason reaches the model", async () => {
    const { agent, provider, workDir, client } = await openStage(Agent);
    provider.respond(callTools(write("c1", "a.txt"), write("c2", "b.txt")), answer("done"));
    ask(agent, "go");
    const [one, two] = interruptsOf(await run(agent));
    const cancelled = { interruptId: two?.id ?? "", status: "cancelled" as const };
    const events = await run(agent, { resume: [resolve(one?.id, false, "too early"), cancelled] });
    expect(events.filter(({ type }) => type === "TOOL_CALL_RESULT")).toMatchObject([
      { toolCallId: "c1", content: "Error: rejected by local: too early" },
      { toolCallId: "c2", content: "Error: rejected by local" },
    ]);
    expect(existsSync(join(workDir, "a.txt"))).toBe(false);
    const { approvals } = await client.call(ApprovalService.method.listApprovals, {});
    expect(approvals.map(({ state }) => state)).toEqual([Approval_State.REJECTED, Approval_State.REJECTED]);
  });

  test("the same answer again gets the same run, and another answer is refused", async () => {
    const { agent, open, provider } = await openStage(Agent);
    provider.respond(callTools(write("c1", "a.txt")), answer("done"));
    ask(agent, "go");
    const [interrupt] = interruptsOf(await run(agent));
    const { messages } = agent;
    const answers = [open(), open(), open()];
    for (const each of answers) {
      each.setMessages(messages);
    }
    const [first, again, other] = answers as [HttpAgent, HttpAgent, HttpAgent];
    const input = { runId: "r2", resume: [resolve(interrupt?.id, true)] };
    const whole = await run(first, input);
    expect(await run(again, input)).toEqual(whole);
    expect(textsOf(again)).toEqual(textsOf(first));
    expect(provider.requests).toHaveLength(2);
    const refused = await run(other, { resume: [resolve(interrupt?.id, false)] });
    expect(refused).toMatchObject([{ type: "RUN_ERROR", code: "interrupt_decided" }]);
  });

  test("an interrupt that is decided elsewhere is answered in the same way", async () => {
    const { agent, client, provider } = await openStage(Agent);
    provider.respond(callTools(write("c1", "a.txt")), answer("done"));
    ask(agent, "go");
    const [interrupt] = interruptsOf(await run(agent));
    const { id: approvalId = "", metadata } = interrupt ?? {};
    const decision = { approvalId, digest: metadata?.runnel.digest ?? "", decision: Approval_Decision.APPROVE };
    await client.call(ApprovalService.method.decideApproval, { ...decision, decidedBy: "ada" });
    const events = await run(agent, { resume: [resolve(approvalId, true)] });
    expect(events.at(-1)).toMatchObject({ outcome: { type: "success" } });
  });

  test("other input, and answers that are missing or unknown, are refused and change nothing", async () => {
    const { agent, open, provider, client, service } = await openStage(Agent);
    provider.respond(callTools(write("c1", "a.txt"), write("c2", "b.txt")), answer("done"));
    ask(agent, "go");
    const [one, two] = interruptsOf(await run(agent));
    const refusalOf = async (input: Input, message?: string) => {
      const other = open();
      other.setMessages(agent.messages);
      if (message !== undefined) {
        ask(other, message);
      }
      const [event, ...more] = await run(other, input);
      expect(more).toEqual([]);
      expect(event?.type).toBe("RUN_ERROR");
      return (event as BaseEvent & { code?: string }).code;
    };
    expect(await refusalOf({}, "something else")).toBe("interrupt_pending");
    expect(await refusalOf({ resume: [resolve(one?.id, true)] })).toBe("interrupt_pending");
    const unknown = resolve("01900000-0000-7000-8000-000000000000", true);
    expect(await refusalOf({ resume: [resolve(one?.id, true), resolve(two?.id, true), unknown] })).toBe(
      "interrupt_unknown",
    );
    expect(await refusalOf({ resume: [resolve("no id", true)] })).toBe("interrupt_unknown");
    const { approvals } = await client.call(ApprovalService.method.listApprovals, { state: Approval_State.PENDING });
    expect(approvals).toHaveLength(2);
    expect(await query(service.databaseUrl, "select from run")).toHaveLength(1);
  });

  test("an interrupt expires: an approval is too late, and a cancellation continues the thread", async () => {
    const { agent, open, provider, client } = await openStage(Agent, { approval_seconds: 1 });
    provider.respond(callTools(write("c1", "a.txt")), answer("done"));
    ask(agent, "go");
    const [interrupt] = interruptsOf(await run(agent));
    await until("the expiry", async () => {
      const { approvals } = await client.call(ApprovalService.method.listApprovals, { state: Approval_State.EXPIRED });
      return approvals.length === 1;
    });
    const late = open();
    late.setMessages(agent.messages);
    const refused = await run(late, { resume: [resolve(interrupt?.id, true)] });
    expect(refused).toMatchObject([{ type: "RUN_ERROR", code: "interrupt_expired" }]);
    // An agent of 0.0.59 sends no answer to an expired interrupt at all: a fresh one does.
    const last = isV1 ? agent : open();
    last.setMessages(agent.messages);
    const events = await run(last, { resume: [{ interruptId: interrupt?.id ?? "", status: "cancelled" }] });
    expect(events.filter(({ type }) => type === "TOOL_CALL_RESULT")).toMatchObject([
      { toolCallId: "c1", content: "Error: the approval expired" },
    ]);
    expect(textsOf(last).at(-1)).toEqual(["assistant", "done"]);
  });

  test("a client that joins the thread gets the interrupt too", async () => {
    const { agent, open, provider, service } = await openStage(Agent);
    provider.respond(callTools(write("c1", "a.txt")), callTools(write("c2", "b.txt")), answer("done"));
    ask(agent, "go");
    const [first] = interruptsOf(await run(agent, { runId: "r1" }));
    const [second] = interruptsOf(await run(agent, { runId: "r2", resume: [resolve(first?.id, true)] }));
    expect(second?.toolCallId).toBe("c2");
    const joined = open();
    joined.url = `${service.url}/v1/ag-ui/careful/connect`;
    const events = await run(joined);
    expect(interruptsOf(events).map(({ toolCallId }) => toolCallId)).toEqual(["c2"]);
    expect(joined.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    joined.url = `${service.url}/v1/ag-ui/careful`;
    await run(joined, { resume: [resolve(second?.id, true)] });
    expect(textsOf(joined).at(-1)).toEqual(["assistant", "done"]);
  });
});
