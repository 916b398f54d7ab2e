// Forms that a server of MCP asks a person to fill in: an approval with a schema, and values that only the server gets.

import { status } from "@grpc/grpc-js";
import { type ElicitRequestFormParams, inputRequired } from "@modelcontextprotocol/server";
import { test as base, describe, expect } from "vitest";
import { z } from "zod";
import { type Approval, Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { type Describe, type Era, openMcpServer } from "../fakes/mcp-server.ts";
import { answer, callTools, hangAfter } from "../fakes/provider.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { openProvider } from "../fixtures.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { modelFlags } from "./stage.ts";

const { PENDING, USED, REJECTED, EXPIRED } = Approval_State;
const { APPROVE, REJECT } = Approval_Decision;

const form: ElicitRequestFormParams = {
  message: "Where to?",
  requestedSchema: {
    type: "object",
    properties: { city: { type: "string", minLength: 2 }, nights: { type: "integer", default: 3 } },
    required: ["city"],
  },
};

/** A tool that asks for a form in the words of the era. */
const describeBooking =
  (era: Era): Describe =>
  (server) => {
    const say = (value: unknown) => ({ content: [{ type: "text" as const, text: JSON.stringify(value) }] });
    server.registerTool("book", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      if (era === "sessions") {
        return say(await mcpReq.elicitInput(form));
      }
      const given = mcpReq.inputResponses?.where;
      return given === undefined
        ? inputRequired({ inputRequests: { where: inputRequired.elicit(form) }, requestState: "s" })
        : say(given);
    });
  };

const test = base.extend<"era", Era>("era", "sessions").extend("stage", ({ era }) => openStage(era));

interface Settings {
  readonly server?: object;
  readonly approvalSeconds?: number;
}

async function openStage(era: Era, { server = {}, ...tools }: Settings = {}, describe = describeBooking(era)) {
  const provider = await openProvider();
  const mcp = await openMcpServer(describe, era);
  const service = await startService({
    ...modelFlags(provider),
    securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"],
  });
  const client = new GrpcClient(service.target);
  const agent = { name: "tester", tools: { mcp: [{ name: "srv", url: mcp.url, forms: true, ...server }], ...tools } };
  const { sessionId } = await client.call(SessionService.method.createSession, { agent });
  const list = async (runId: string) => (await client.call(ApprovalService.method.listApprovals, { runId })).approvals;
  const get = async (approvalId: string): Promise<Approval> =>
    (await client.call(ApprovalService.method.getApproval, { approvalId })).approval as Approval;
  return {
    ...{ service, client, mcp, get },
    start: async (next = answer("done")): Promise<string> => {
      provider.respond(callTools({ id: "c1", name: "srv_book", arguments: "{}" }), next);
      return (await client.call(SessionService.method.sendMessage, { sessionId, message: "go" })).runId;
    },
    asked: async (runId: string): Promise<Approval> => {
      const [approval] = await until("a form", async () => {
        const all = await list(runId);
        return all.length > 0 && all;
      });
      return await get(approval?.approvalId ?? "");
    },
    decide: async ({ approvalId, digest }: Approval, decision: Approval_Decision, values = "") =>
      (await client.call(ApprovalService.method.decideApproval, { approvalId, digest, decision, values })).approval,
    /** Returns what the model read as the result, and the whole log as text. */
    ended: async (runId: string) => {
      await until("the run to end", async () => {
        const { run } = await client.call(RunService.method.getRun, { runId });
        return run?.endTime !== undefined;
      });
      const { results } = await client.call(RunService.method.listRunResults, { runId });
      const read = results.flatMap(({ payload }) =>
        payload.case === "toolCallCompleted" ? [payload.value.error || payload.value.result] : [],
      );
      return { read: read.join("\n"), results };
    },
  };
}

describe.each(["sessions", "modern"] as const)("a server of the era %s", (era) => {
  test.override("era", era);

  test("asks for a form, gets the values once, and nothing else has them", async ({ stage }) => {
    const runId = await stage.start();
    const approval = await stage.asked(runId);
    expect(approval).toMatchObject({
      state: PENDING,
      action: "elicitation/create",
      toolCallId: "c1",
      subject: "Where to?",
    });
    expect(JSON.parse(approval.form ?? "")).toEqual(form.requestedSchema);
    expect(JSON.parse(approval.request ?? "")).toEqual({ action: "elicitation/create", target: "srv", payload: form });

    await stage.decide(approval, APPROVE, '{"city":"Lund-4711"}');
    const { read, results } = await stage.ended(runId);
    expect(JSON.parse(JSON.parse(read).content ?? read)).toMatchObject({
      action: "accept",
      content: { city: "Lund-4711", nights: 3 },
    });
    expect(await stage.get(approval.approvalId)).toMatchObject({ state: USED });
    expect(results.map(({ payload }) => payload.case)).toContain("approvalRequested");
    const rows = await query(stage.service.databaseUrl, "select form, answer from approval");
    expect(rows).toEqual([{ form: approval.form, answer: null }]);
    await expectInvariants(stage.service.databaseUrl);
  });

  test("learns that a person declined", async ({ stage }) => {
    const runId = await stage.start();
    const approval = await stage.asked(runId);
    expect(await stage.decide(approval, REJECT)).toMatchObject({ state: REJECTED });
    expect((await stage.ended(runId)).read).toContain("decline");
  });
});

test("values that do not match the form are refused, and the form stays open", async ({ stage }) => {
  const runId = await stage.start();
  const approval = await stage.asked(runId);
  for (const [values, problem] of [
    ["", /must have required property 'city'/],
    ['{"city":"x"}', /\/city must NOT have fewer than 2 characters/],
    ["[1]", /must be a JSON object/],
  ] as const) {
    await expect(stage.decide(approval, APPROVE, values)).rejects.toMatchObject({
      ...{ code: status.INVALID_ARGUMENT, details: expect.stringMatching(problem) },
    });
  }
  expect(await stage.get(approval.approvalId)).toMatchObject({ state: PENDING });
  await stage.decide(approval, REJECT);
  await stage.ended(runId);
});

test("a form that nobody fills in is cancelled at its expiry", async () => {
  const stage = await openStage("sessions", { approvalSeconds: 1 });
  const runId = await stage.start();
  const approval = await stage.asked(runId);
  expect((await stage.ended(runId)).read).toContain("cancel");
  expect(await stage.get(approval.approvalId)).toMatchObject({ state: EXPIRED });
});

test("the time of a person counts towards no limit of the call", async () => {
  const stage = await openStage("sessions", { server: { timeoutSec: 1, idleSec: 1 } });
  const runId = await stage.start();
  const approval = await stage.asked(runId);
  const askedAtMs = performance.now();
  await until("the limits to be over", () => performance.now() - askedAtMs > 2_500);
  await stage.decide(approval, APPROVE, '{"city":"Lund"}');
  expect((await stage.ended(runId)).read).toContain("Lund");
});

test("the end of a call ends its form, while the run goes on", async () => {
  const { promise: seen, resolve } = Promise.withResolvers<void>();
  const stage = await openStage("sessions", {}, (server) => {
    server.registerTool("book", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      void mcpReq.elicitInput(form).catch(() => {});
      await seen;
      return { content: [] };
    });
  });
  const runId = await stage.start(hangAfter("Well"));
  const { approvalId } = await stage.asked(runId);
  resolve();
  await until("the form to be over", async () => (await stage.get(approvalId)).state === EXPIRED);
  const { run } = await stage.client.call(RunService.method.getRun, { runId });
  expect(run?.endTime).toBeUndefined();
});

test("a form that the server takes back can no longer be filled in, and a call has a maximum of forms", async () => {
  const stage = await openStage("sessions", {}, (server) => {
    server.registerTool("book", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      const errors: string[] = [];
      for (let asked = 0; asked < 33; asked++) {
        await mcpReq.elicitInput(form, { timeout: 20 }).catch((error: Error) => errors.push(error.message));
      }
      return { content: [{ type: "text", text: errors.at(-1) ?? "" }] };
    });
  });
  const runId = await stage.start();
  const approval = await stage.asked(runId);
  expect((await stage.ended(runId)).read).toContain("the call has asked for 32 forms");
  expect(await stage.get(approval.approvalId)).toMatchObject({ state: EXPIRED });
  await expect(stage.decide(approval, REJECT)).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
});

test("a server that may not ask gets no form", async () => {
  const stage = await openStage("sessions", { server: { forms: false } });
  const runId = await stage.start();
  expect((await stage.ended(runId)).read).toMatch(/elicitation/i);
});
