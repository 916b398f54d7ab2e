// Calls of tools that wait for a person: the log meanwhile, how a decision continues the run, and the results that the model reads.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { ServiceError } from "@grpc/grpc-js";
import { test as base, describe, expect, onTestFinished } from "vitest";
import { type Approval, Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Config } from "../../src/platform/config/keys.ts";
import { startCallbackHost } from "../fakes/callback-host.ts";
import { answer, callTools, type ToolCallPiece } from "../fakes/provider.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { openFolder, openProvider } from "../fixtures.ts";
import { credentialsOf, keyOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { modelFlags } from "./stage.ts";
import { connectJsonTransport } from "./transports.ts";

const test = base.extend("stage", () => openStage());

const { PENDING, APPROVED, REJECTED, EXPIRED, USED } = Approval_State;
const { APPROVE, REJECT } = Approval_Decision;

type Named = Pick<Approval, "approvalId" | "digest">;

interface Tools {
  readonly remote?: readonly object[];
  readonly approve?: readonly string[];
  readonly approvalSeconds?: number;
}

const write = (id: string, path: string, content = "new"): ToolCallPiece => ({
  id,
  name: "write_file",
  arguments: JSON.stringify({ file_path: path, content }),
});
const list = (id: string): ToolCallPiece => ({ id, name: "list_dir", arguments: '{"path":"."}' });

async function openStage(tools: Tools = {}, settings: Partial<Config> = {}) {
  const provider = await openProvider();
  const service = await startService({ ...modelFlags(provider), ...settings });
  const workDir = await openFolder();
  const client = new GrpcClient(service.target);
  const agent = {
    name: "tester",
    tools: { builtin: ["write_file", "list_dir"], approve: ["write_file"], ...tools } as object,
  };
  const { sessionId } = await client.call(SessionService.method.createSession, { agent, workDir });
  const runOf = async (runId: string) => (await client.call(RunService.method.getRun, { runId })).run;
  const stage = {
    service,
    provider,
    client,
    sessionId,
    workDir,
    runOf,
    send: async (): Promise<string> =>
      (await client.call(SessionService.method.sendMessage, { sessionId, message: "hello" })).runId,
    /** Waits until the run waits for approvals, and returns them with their requests, in the order of the calls. */
    asked: async (runId: string): Promise<Approval[]> => {
      await until("the run to wait", async () => (await runOf(runId))?.state === Run_State.WAITING);
      const { approvals } = await client.call(ApprovalService.method.listApprovals, { runId });
      return await Promise.all(approvals.toReversed().map(stage.get));
    },
    get: async ({ approvalId }: { approvalId: string }): Promise<Approval> =>
      (await client.call(ApprovalService.method.getApproval, { approvalId })).approval as Approval,
    decide: async ({ approvalId, digest }: Named, decision = APPROVE, more: object = {}) =>
      (await client.call(ApprovalService.method.decideApproval, { approvalId, digest, decision, ...more })).approval,
    ended: async (runId: string) =>
      await until("the run to end", async () => {
        const run = await runOf(runId);
        return run?.endTime !== undefined && run;
      }),
    logOf: async (runId: string) => (await client.call(RunService.method.listRunResults, { runId })).results,
    /** What the model read as the results of its calls, in its newest request. */
    read: () =>
      provider.requests
        .at(-1)
        ?.body.messages.filter(({ role }) => role === "tool")
        .map(({ content }) => content),
  };
  return stage;
}

/** REST by hand: its paths and its JSON are part of the contract. */
function restClient(
  url: string,
): Pick<Client<typeof ApprovalService>, "getApproval" | "listApprovals" | "decideApproval"> {
  const ask = async (path: string, body?: object) => {
    const response = await fetch(`${url}/v1/approvals${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${keyOf()}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, string> & { approvals: Record<string, string>[] };
  };
  const read = (json: Record<string, string>) => ({
    approvalId: json.approval_id,
    runId: json.run_id,
    sessionId: json.session_id,
    toolCallId: json.tool_call_id,
    action: json.action,
    digest: json.digest,
    request: json.request === undefined ? undefined : JSON.stringify(json.request),
    state: { pending: PENDING, approved: APPROVED, used: USED }[json.state ?? ""],
  });
  return {
    getApproval: async ({ approvalId }: { approvalId?: string }) => ({ approval: read(await ask(`/${approvalId}`)) }),
    listApprovals: async ({ runId }: { runId?: string }) => ({
      approvals: (await ask(`?run_id=${runId}&state=pending`)).approvals.map(read),
    }),
    decideApproval: async ({ approvalId, digest }: { approvalId?: string; digest?: string }) => ({
      approval: read(await ask(`/${approvalId}:decide`, { decision: "approve", digest })),
    }),
  } as never;
}

const kinds: readonly { name: string; connect: (url: string) => ReturnType<typeof restClient> }[] = [
  { name: "gRPC", connect: (url) => overTransport(createGrpcTransport({ baseUrl: url })) },
  { name: "Connect, JSON", connect: (url) => overTransport(connectJsonTransport(url)) },
  { name: "REST", connect: restClient },
];

function overTransport(transport: Transport): ReturnType<typeof restClient> {
  const client = createClient(ApprovalService, transport);
  const headers = credentialsOf();
  return {
    getApproval: (request) => client.getApproval(request, { headers }),
    listApprovals: (request) => client.listApprovals(request, { headers }),
    decideApproval: (request) => client.decideApproval(request, { headers }),
  };
}

test.for(kinds)("a call is asked for, approved over $name, and runs once", async ({ connect }, { stage }) => {
  const { provider, sessionId, workDir } = stage;
  provider.respond(callTools(list("c0"), write("c1", "a.txt")), answer("done"));
  const runId = await stage.send();
  await stage.asked(runId);
  const api = connect(stage.service.url);
  const { approvals } = await api.listApprovals({ runId, state: PENDING });
  expect(approvals).toHaveLength(1);
  const { approval } = await api.getApproval({ approvalId: approvals[0]?.approvalId ?? "" });
  const request = '{"action":"write_file","payload":{"file_path":"a.txt","content":"new"}}';
  const digest = createHash("sha256").update(request).digest("hex");
  const known = { runId, sessionId, toolCallId: "c1", action: "write_file", digest };
  expect(approval).toMatchObject({ ...known, request, state: PENDING });
  expect(existsSync(join(workDir, "a.txt"))).toBe(false);
  expect(await stage.runOf(runId)).toMatchObject({ state: Run_State.WAITING, waitReason: "approval: write_file" });
  const decided = await api.decideApproval({ approvalId: approval?.approvalId ?? "", digest, decision: APPROVE });
  expect(decided.approval).toMatchObject({ ...known, state: APPROVED });
  expect(await stage.ended(runId)).toMatchObject({ state: Run_State.COMPLETED, output: "done" });
  expect(await readFile(join(workDir, "a.txt"), "utf8")).toBe("new");
  expect((await stage.logOf(runId)).map(({ payload }) => payload.case)).toEqual([
    "turnStarted",
    "messageCompleted",
    "toolCallStarted",
    "toolCallStarted",
    "approvalRequested",
    "runWaiting",
    "toolCallCompleted",
    "toolCallCompleted",
    "turnStarted",
    "messageDelta",
    "messageCompleted",
    "runCompleted",
  ]);
  const asked = (await stage.logOf(runId))[4]?.payload.value;
  const parameters = '{"file_path":"a.txt","content":"new"}';
  expect(asked).toMatchObject({ toolCallId: "c1", toolName: "write_file", parameters, digest, action: "write_file" });
  expect(await stage.get({ approvalId: approval?.approvalId ?? "" })).toMatchObject({ state: USED });
  // The same decision again gets the same answer, also after its use.
  expect(await stage.decide({ approvalId: approval?.approvalId ?? "", digest })).toMatchObject({ state: USED });
  await expectInvariants(stage.service.databaseUrl);
});

test("a rejected call does not run, and the model reads who rejected it and why", async ({ stage }) => {
  stage.provider.respond(callTools(write("c1", "a.txt"), write("c2", "b.txt")), answer("done"));
  const runId = await stage.send();
  const [first, second] = await stage.asked(runId);
  await stage.decide(first as Approval, REJECT, { decidedBy: "ada", comment: "not there" });
  // The run waits for all of its approvals.
  expect(await stage.runOf(runId)).toMatchObject({ state: Run_State.WAITING });
  await stage.decide(second as Approval, REJECT, { decidedBy: "bob" });
  expect(await stage.ended(runId)).toMatchObject({ state: Run_State.COMPLETED });
  expect(stage.read()).toEqual(["Error: rejected by ada: not there", "Error: rejected by bob"]);
  expect(existsSync(join(stage.workDir, "a.txt"))).toBe(false);
});

test("of two calls the approved one runs and the rejected one does not", async ({ stage }) => {
  stage.provider.respond(callTools(write("c1", "a.txt"), write("c2", "b.txt")), answer("done"));
  const runId = await stage.send();
  const [first, second] = await stage.asked(runId);
  await stage.decide(second as Approval);
  expect(existsSync(join(stage.workDir, "b.txt"))).toBe(false);
  await stage.decide(first as Approval, REJECT);
  await stage.ended(runId);
  expect(existsSync(join(stage.workDir, "a.txt"))).toBe(false);
  expect(await readFile(join(stage.workDir, "b.txt"), "utf8")).toBe("new");
  expect(await stage.get(first as Approval)).toMatchObject({ state: REJECTED });
  expect(await stage.get(second as Approval)).toMatchObject({ state: USED });
});

test("an approval that nobody decides expires, and a call that was approved before does not", async () => {
  const stage = await openStage({ approvalSeconds: 2 });
  stage.provider.respond(callTools(write("c1", "a.txt"), write("c2", "b.txt")), answer("done"));
  const runId = await stage.send();
  const [first, second] = await stage.asked(runId);
  await stage.decide(second as Approval);
  expect(await stage.ended(runId)).toMatchObject({ state: Run_State.COMPLETED });
  expect(stage.read()).toEqual(["Error: the approval expired", expect.stringContaining("b.txt")]);
  expect(await stage.get(first as Approval)).toMatchObject({ state: EXPIRED });
  expect(await stage.decide(first as Approval).catch(reasonOf)).toBe("APPROVAL_EXPIRED");
  expect(await stage.get(second as Approval)).toMatchObject({ state: USED });
});

test("a decision that comes while the other calls still run continues the run after them", async () => {
  const host = await startCallbackHost({ secret: keyOf() });
  onTestFinished(() => host[Symbol.asyncDispose]());
  const gate = Promise.withResolvers<void>();
  host.answer(async (response: ServerResponse) => {
    await gate.promise;
    response.end('{"success":true,"content":"slow"}');
  });
  const stage = await openStage(
    { remote: [{ name: "slow", description: "Takes long.", parameters: "[]" }] },
    { callbackBaseUrl: host.baseUrl, securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"] },
  );
  stage.provider.respond(callTools(write("c1", "a.txt"), { id: "c2", name: "slow", arguments: "{}" }), answer("done"));
  const runId = await stage.send();
  await host.called(1);
  const { approvals } = await stage.client.call(ApprovalService.method.listApprovals, { runId });
  await stage.decide(approvals[0] as Approval);
  expect(await stage.runOf(runId)).toMatchObject({ state: Run_State.RUNNING });
  gate.resolve();
  expect(await stage.ended(runId)).toMatchObject({ state: Run_State.COMPLETED });
  expect(stage.read()).toEqual([expect.stringContaining("a.txt"), "slow"]);
  expect(host.calls).toHaveLength(1);
});

test("a purge erases the texts of the approvals", async ({ stage }) => {
  stage.provider.respond(callTools(write("c1", "a.txt")), answer("done"));
  const runId = await stage.send();
  const [approval] = await stage.asked(runId);
  await stage.decide(approval as Approval, REJECT, { comment: "secret" });
  await stage.ended(runId);
  const { sessionId } = stage;
  await stage.client.call(SessionService.method.purgeSession, { sessionId });
  const purged = { action: "", request: "{}", comment: "", state: REJECTED };
  expect(await stage.get(approval as Approval)).toMatchObject(purged);
});

test("the time that a run waits for a person does not count towards its timeout", async () => {
  const stage = await openStage({ approvalSeconds: 600 }, { defaultTimeoutSecs: 5 });
  stage.provider.respond(callTools(write("c1", "a.txt")), answer("done"));
  const runId = await stage.send();
  const [approval] = await stage.asked(runId);
  const deadline = async () =>
    (
      await query<{ left: number }>(
        stage.service.databaseUrl,
        "select extract(epoch from deadline - now())::float8 as left from run",
      )
    )[0]?.left ?? 0;
  expect(await deadline()).toBeGreaterThan(590);
  await stage.decide(approval as Approval);
  await stage.ended(runId);
  expect(await deadline()).toBeLessThan(5);
});

describe("while it waits", () => {
  test("a run is cancelled at once, its calls have results, and its approvals expire", async ({ stage }) => {
    stage.provider.respond(callTools(write("c1", "a.txt")));
    const runId = await stage.send();
    const [approval] = await stage.asked(runId);
    await stage.client.call(RunService.method.cancelRun, { runId });
    expect(await stage.ended(runId)).toMatchObject({ state: Run_State.CANCELLED });
    const completed = (await stage.logOf(runId)).filter(({ payload }) => payload.case === "toolCallCompleted");
    expect(completed.map(({ payload }) => payload.value)).toMatchObject([
      { toolCallId: "c1", error: expect.stringMatching(/^interrupted/) },
    ]);
    expect(await stage.get(approval as Approval)).toMatchObject({ state: EXPIRED });
    expect(await stage.decide(approval as Approval).catch(reasonOf)).toBe("APPROVAL_EXPIRED");
    await expectInvariants(stage.service.databaseUrl);
  });

  test("a decision names the digest, counts once, and belongs to the client", async ({ stage }) => {
    stage.provider.respond(callTools(write("c1", "a.txt")), answer("done"));
    const runId = await stage.send();
    const [approval] = await stage.asked(runId);
    const asked = approval as Approval;
    expect(await stage.decide({ ...asked, digest: "0".repeat(64) }).catch(reasonOf)).toBe("APPROVAL_CHANGED");
    const stranger = new GrpcClient(stage.service.target, credentialsOf("stranger"));
    const { approvalId, digest } = asked;
    const request = { approvalId, digest, decision: APPROVE };
    expect(await stranger.call(ApprovalService.method.decideApproval, request).catch(reasonOf)).toBe(
      "APPROVAL_NOT_FOUND",
    );
    const both = await Promise.allSettled([
      stage.decide(asked, APPROVE, { decidedBy: "ada" }),
      stage.decide(asked, REJECT, { decidedBy: "bob" }),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await stage.ended(runId);
  });
});

test("calls that no tool would run ask for no approval", async () => {
  const stage = await openStage({ approve: ["write_file", "list_dir"] });
  const repeated = write("r", "a.txt");
  stage.provider.respond(
    callTools({ id: "bad", name: "write_file", arguments: "{" }, { id: "unknown", name: "rm", arguments: "{}" }),
    callTools(...Array.from({ length: 11 }, (_, index) => write(`c${index}`, `${index}.txt`))),
    answer("done"),
  );
  const runId = await stage.send();
  const asked = await stage.asked(runId);
  expect(asked.map(({ toolCallId }) => toolCallId)).toEqual(Array.from({ length: 10 }, (_, index) => `c${index}`));
  for (const each of asked) {
    await stage.decide(each, REJECT);
  }
  await stage.ended(runId);
  stage.provider.respond(callTools(repeated), callTools(repeated), callTools(repeated), answer("done"));
  const other = await stage.send();
  for (const turn of [1, 2]) {
    const all = await until("the next approval", async () => {
      const { approvals } = await stage.client.call(ApprovalService.method.listApprovals, { runId: other });
      return approvals.length === turn && approvals;
    });
    await stage.decide(all[0] as Approval, REJECT);
  }
  await stage.ended(other);
  const outcomes = (await stage.logOf(other)).flatMap(({ payload }) =>
    payload.case === "toolCallCompleted" ? [payload.value.error] : [],
  );
  expect(outcomes.at(-1)).toContain("LOOP DETECTED");
});

describe("a model that makes a rejected call again", () => {
  /** Lets the model make these calls, one in a response, and decides each that asks. Returns the end of the run. */
  async function decideAll(
    calls: readonly ToolCallPiece[],
    decisions: readonly Approval_Decision[],
  ): Promise<{ end: unknown; requests: number }> {
    const { provider, send, decide, ended, logOf, client } = await openStage();
    provider.respond(...calls.map((call) => callTools(call)), answer("done"));
    const runId = await send();
    for (const [place, decision] of decisions.entries()) {
      const asked = await until("the next approval", async () => {
        const { approvals } = await client.call(ApprovalService.method.listApprovals, { runId });
        return approvals.length === place + 1 && approvals;
      });
      await decide(asked[0] as Approval, decision);
    }
    await ended(runId);
    return { end: (await logOf(runId)).at(-1)?.payload, requests: provider.requests.length };
  }
  const withNumber = (id: string, number: string): ToolCallPiece => ({
    id,
    name: "write_file",
    arguments: `{"file_path":"a.txt","content":"new","number":${number}}`,
  });

  test("two more times ends the run with the reason, and the person is asked twice", async () => {
    const calls = ["1e2", "100", "100.0"].map((number, turn) => withNumber(`c${turn}`, number));
    expect(await decideAll(calls, [REJECT, REJECT])).toMatchObject({
      end: {
        case: "runFailed",
        value: {
          code: "runner.invalid_calls",
          error:
            "the model repeats invalid calls: a person has rejected this call of write_file; this agent has the tools write_file, list_dir",
        },
      },
      requests: 3,
    });
  });

  test("with other calls in between ends the run after five requests", async () => {
    const calls = ["1", "2", "3", "1", "2"].map((number, turn) => withNumber(`c${turn}`, number));
    expect(await decideAll(calls, [REJECT, REJECT, REJECT, REJECT, REJECT])).toMatchObject({
      end: { case: "runFailed", value: { code: "runner.invalid_calls" } },
      requests: 5,
    });
  });

  test("with another number is no repetition, however large the numbers are", async () => {
    const calls = ["9007199254740992", "9007199254740993", "9007199254740994"].map((number, turn) =>
      withNumber(`c${turn}`, number),
    );
    expect(await decideAll(calls, [REJECT, REJECT, REJECT])).toMatchObject({
      end: { case: "runCompleted" },
      requests: 4,
    });
  });

  test("begins anew when the person approves it", async () => {
    const calls = [write("c1", "a.txt"), write("c2", "a.txt"), list("c3"), write("c4", "a.txt")];
    expect(await decideAll(calls, [REJECT, APPROVE])).toMatchObject({ end: { case: "runCompleted" }, requests: 5 });
  });
});

test("a name that is not among the agent's tools is refused, with its field", async () => {
  const stage = await openStage({ approve: ["write_file", "bash"] });
  const refused = await stage.send().catch((error: ServiceError) => error);
  expect(reasonOf(refused as ServiceError)).toBe("INVALID_ARGUMENT");
  expect(String(refused)).toContain("approve bash: name a tool of builtin, remote or agents");
});
