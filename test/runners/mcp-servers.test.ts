// The tools of MCP servers as runners get them: listed when the event starts its run, kept to its end, and called through the host.

import { chmod, readdir, realpath, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { HostToolService } from "#gen/runnel/host/v1/host_tool_service_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { Config } from "../../src/platform/config/keys.ts";
import { readMcpServers } from "../../src/platform/config/mcp-servers.ts";
import { emptyRemoteRuns } from "../../src/protocols/langbot/storage/remote-run.ts";
import { type Describe, openMcpServer } from "../fakes/mcp-server.ts";
import { openFolder } from "../fixtures.ts";
import { query } from "../harness/database.ts";
import { reasonOf } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { connect } from "../runlog/store.ts";
import { hasJail } from "../tools/bash/jailed.ts";
import { type Accepted, bind, done, newEvent, openWorkerStage, type Said, start } from "./hand-worker.ts";

const secret = "Bearer token-4711-abcdef";

const search: Describe = (server) => {
  server.registerTool(
    "search",
    {
      description: "Searches the handbook.",
      inputSchema: z.object({ query: z.string() }),
      outputSchema: z.object({ hits: z.number() }),
    },
    async ({ query: words }) => ({
      content: [
        { type: "text", text: `found ${words}` },
        { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" },
      ],
      structuredContent: { hits: 1 },
    }),
  );
};

const named =
  (name: string): Describe =>
  (server) => {
    server.registerTool(name, { inputSchema: z.object({ day: z.string().optional() }) }, async () => ({
      content: [{ type: "text", text: `${name} done` }],
    }));
  };

async function openService(flags: Partial<Config> = {}) {
  const stage = await openWorkerStage({ flags: { securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"], ...flags } });
  const { hostOf } = stage;
  return {
    ...stage,
    /** Calls a tool as the runner of the run. */
    call: async (run: Accepted, toolName: string, parameters: object = {}, approvalSequence = 0n) => {
      const request = { runId: run.runId, toolName, parameters: JSON.stringify(parameters), approvalSequence };
      const { result } = await hostOf(run).call(HostToolService.method.callTool, request);
      return JSON.parse(result);
    },
    detail: async (run: Accepted, toolName: string) => {
      const { tool } = await hostOf(run).call(HostToolService.method.getTool, { runId: run.runId, toolName });
      return JSON.parse(tool);
    },
  };
}

type Stage = Awaited<ReturnType<typeof openService>>;

/** Returns the reason and the words with which a call is refused. */
async function refusal(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => expect.fail("the call is refused"),
    (failure) => failure,
  );
  return `${reasonOf(error)}: ${error.details}`;
}

/** Binds the runner to servers, and starts a run that its worker accepts. */
async function begin({ client, worker }: Stage, mcpServers: readonly object[], more: object = {}): Promise<Accepted> {
  await bind(client, { resourcePolicy: { allowedTools: ["list_dir"], mcpServers }, ...more });
  await start(client);
  return await worker.take();
}

test("a runner gets the tools of its servers, and its calls reach them with the credentials of the binding", async () => {
  const stage = await openService();
  const server = await openMcpServer(search);
  const headers = [{ name: "authorization", value: secret }];
  const run = await begin(stage, [{ name: "docs", url: server.url, headers }]);
  const { resources } = JSON.parse(run.contextJson);
  expect(resources.tools).toMatchObject([
    { tool_name: "list_dir", operations: ["detail", "call"] },
    {
      ...{ tool_name: "docs_search", tool_type: "mcp", description: "Searches the handbook." },
      operations: ["detail", "call"],
    },
  ]);
  expect(await stage.detail(run, "docs_search")).toMatchObject({
    name: "docs_search",
    parameters: { type: "object", properties: { query: { type: "string" } } },
  });
  expect(server.calls()).toEqual([]);
  expect(await stage.call(run, "docs_search", { query: "tides" })).toEqual({
    content: "found tides",
    media: [{ type: "image", mime_type: "image/png", data: "iVBORw0KGgo=" }],
    structured_content: { hits: 1 },
  });
  expect(server.calls()[0]?.headers).toMatchObject({ authorization: secret });
  expect(await stage.call(run, "list_dir", { path: "." })).toHaveProperty("content");
  const { entries } = await stage.client.call(RunnerService.method.listAuditEntries, { runId: run.runId });
  expect(entries.map(({ action, resource }) => [action, resource])).toContainEqual(["call_tool", "docs_search"]);
});

test("a run keeps the list with which it began, and the next run has the new one", async () => {
  const stage = await openService();
  let describe_ = named("lock");
  const server = await openMcpServer((mcp) => describe_(mcp));
  const servers = [{ name: "door", url: server.url, prefix: "" }];
  const first = await begin(stage, servers);
  describe_ = named("open");
  expect(await refusal(stage.detail(first, "open"))).toMatch(/^GRANT_REFUSED/);
  expect(await stage.detail(first, "lock")).toMatchObject({ name: "lock" });
  // The server no longer has it, and says so.
  expect(await refusal(stage.call(first, "lock"))).toMatch(/^HOST_CALL_FAILED/);
  await stage.worker.report(first, { 1: done });
  const second = await begin(stage, servers);
  expect(await stage.call(second, "open")).toEqual({ content: "open done" });
});

test("no answer of the service has the values of headers, and erased runs have no servers", async () => {
  const stage = await openService();
  const server = await openMcpServer(search);
  const headers = [{ name: "authorization", value: secret }];
  const run = await begin(stage, [{ name: "docs", url: server.url, headers }]);
  const policy = { resourcePolicy: { mcpServers: [{ name: "docs", url: server.url, headers }] } };
  const { client } = stage;
  const { method } = RunnerService;
  const agent = { agentId: "helper", runnerId: "plugin:ada/tests/default", ...policy };
  const answers = [
    await client.call(method.putBinding, { binding: { bindingId: "other", runnerId: agent.runnerId, ...policy } }),
    await client.call(method.getBinding, { bindingId: "tests" }),
    await client.call(method.listBindings, {}),
    await client.call(method.putAgentProfile, { agent }),
    await client.call(method.getAgentProfile, { agentId: "helper" }),
    await client.call(method.listAgentProfiles, {}),
    run,
  ];
  const shown = JSON.stringify(answers, (_, value) => (typeof value === "bigint" ? String(value) : value));
  expect(shown).toContain(server.url);
  expect(shown).not.toContain("token-4711");
  const { db } = connect(stage.databaseUrl);
  const kept = () => query<{ mcp: Buffer | null }>(stage.databaseUrl, "select mcp from remote_run");
  expect(String((await kept())[0]?.mcp)).toContain("token-4711");
  await emptyRemoteRuns(db, [run.runId]);
  expect(await kept()).toEqual([{ mcp: null }]);
});

test("a server that gives no list refuses the event, and leaves nothing", async () => {
  const stage = await openService();
  const server = await openMcpServer(() => {}, "legacy");
  await bind(stage.client, {
    resourcePolicy: { mcpServers: [{ name: "docs", url: server.url, allowedTools: ["x"] }] },
  });
  const event = newEvent();
  const why = await refusal(stage.client.call(RunnerService.method.startRun, { event }));
  expect(why).toMatch(/^MCP_SERVER_FAILED/);
  expect(why).toContain('mcp server "docs": it has no tool "x"');
  expect(await query(stage.databaseUrl, "select 1 from run")).toEqual([]);
});

/** A server that says where it works, and leaves a note there. */
const program = `
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "p", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "note", inputSchema: { type: "object" } }] }),
  "tools/call": () => (writeFileSync("note.txt", "made by a server"), { content: [{ type: "text", text: "noted" }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const answer = answers[method];
  const end = answer === undefined ? { error: { code: -32601, message: "unknown" } } : { result: answer(params) };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...end }));
}
`;

test.skipIf(!hasJail)(
  "a program of the settings works in the run's directory, and a refused start leaves none",
  async () => {
    const folder = await realpath(await openFolder());
    await chmod(folder, 0o755);
    await writeFile(join(folder, "server.mjs"), program);
    const sessionsWorkRoot = await openFolder();
    await chmod(sessionsWorkRoot, 0o711);
    const command = { command: process.execPath, args: [join(folder, "server.mjs")] };
    const line = `notes=${JSON.stringify({ ...command, folders: [folder, dirname(process.execPath)] })}`;
    const mcpServers = readMcpServers(line) ?? [];
    const stage = await openService({ mcpServers, sessionsWorkRoot, sessionsClientMaxConcurrent: 1 });
    const run = await begin(stage, [{ name: "notes" }]);
    expect(await stage.call(run, "notes_note")).toEqual({ content: "noted" });
    expect((await stage.call(run, "list_dir", { path: "." })).content).toContain("note.txt");
    expect(await refusal(start(stage.client))).toMatch(/^CONCURRENCY_EXHAUSTED/);
    const [owner = ""] = await readdir(sessionsWorkRoot);
    expect(await readdir(join(sessionsWorkRoot, owner))).toHaveLength(1);
    await stage.worker.report(run, { 1: done });
  },
);

test("a server is not asked for a runner whose manifest asks for no tools", async () => {
  const stage = await openService();
  await stage.worker.register("by-hand", { permissions: {} });
  const server = await openMcpServer(search);
  const run = await begin(stage, [{ name: "docs", url: server.url }]);
  expect(JSON.parse(run.contextJson).resources.tools).toEqual([]);
  expect(server.requests).toEqual([]);
});

describe("a binding is refused, and stays as it was, with", () => {
  const url = "https://docs.example/mcp";
  test.for([
    ["an unknown server of the settings", [{ name: "files" }], ""],
    ["a private address", [{ name: "docs", url: "http://10.0.0.1/mcp" }], ""],
    [
      "two servers of a name",
      [
        { name: "docs", url },
        { name: "docs", url },
      ],
      "",
    ],
    ["a header of the service", [{ name: "docs", url, headers: [{ name: "host", value: "x" }] }], ""],
    ["calls to approve and no approvals", [{ name: "docs", url, approve: ["*"] }], "[0].approve"],
    ["calls to repeat", [{ name: "docs", url, repeatable: ["*"] }], "[0].repeatable"],
  ] as const)("%s", async ([_, mcpServers, field]) => {
    const { client, databaseUrl } = await openService();
    const why = await refusal(bind(client, { resourcePolicy: { mcpServers } }));
    expect(why).toMatch(/^INVALID_ARGUMENT/);
    expect(why).toContain(`binding.resource_policy.mcp_servers${field}`);
    expect(await query(databaseUrl, "select 1 from binding")).toEqual([]);
  });
});

describe("a tool that waits for a person", () => {
  const asks = (payload: object): Said => [
    "action.requested",
    { action: "call_tool", target: { tool_name: "door_lock" }, payload },
  ];

  async function openWaiting() {
    const stage = await openService();
    const server = await openMcpServer(named("lock"));
    const approvalPolicy = { required: true };
    const run = await begin(stage, [{ name: "door", url: server.url, approve: ["lock"] }], { approvalPolicy });
    const decide = async (decision: Approval_Decision) => {
      const { approvals } = await stage.client.call(ApprovalService.method.listApprovals, {
        state: Approval_State.PENDING,
      });
      const [{ approvalId = "", digest = "" } = {}] = approvals;
      await stage.client.call(ApprovalService.method.decideApproval, { approvalId, digest, decision });
    };
    return { ...stage, run, server, decide };
  }

  test("is called once for an approval of exactly this call", async () => {
    const { run, worker, call, decide, server } = await openWaiting();
    const refused = /^APPROVAL_REQUIRED/;
    expect(await refusal(call(run, "door_lock", { day: "Monday" }))).toMatch(refused);
    await worker.report(run, { 1: asks({ day: "Monday" }) });
    const waiting = call(run, "door_lock", { day: "Monday" }, 1n);
    await decide(Approval_Decision.APPROVE);
    expect(await waiting).toEqual({ content: "lock done" });
    expect(await refusal(call(run, "door_lock", { day: "Monday" }, 1n))).toMatch(refused);
    await worker.report(run, { 2: asks({ day: "Tuesday" }) });
    await decide(Approval_Decision.APPROVE);
    expect(await refusal(call(run, "door_lock", { day: "Friday" }, 2n))).toMatch(refused);
    expect(server.calls()).toHaveLength(1);
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => call(run, "door_lock", { day: "Tuesday" }, 2n)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(server.calls()).toHaveLength(2);
  });

  test("is not called after a rejection", async () => {
    const { run, worker, call, decide, server } = await openWaiting();
    await worker.report(run, { 1: asks({}) });
    await decide(Approval_Decision.REJECT);
    const why = await refusal(call(run, "door_lock", {}, 1n));
    expect(why).toMatch(/^APPROVAL_REQUIRED/);
    expect(why).toContain("rejected");
    expect(server.calls()).toEqual([]);
  });
});

test("a cancelled run ends its call at the server", async () => {
  const stage = await openService();
  const server = await openMcpServer((mcp) => {
    mcp.registerTool("wait", { inputSchema: z.object({}) }, () => new Promise(() => {}));
  });
  const run = await begin(stage, [{ name: "slow", url: server.url }]);
  const waiting = stage.call(run, "slow_wait");
  waiting.catch(() => {});
  await until("the server has the call", async () => server.calls().length === 1);
  await stage.client.call(RunService.method.cancelRun, { runId: run.runId });
  expect(await refusal(waiting)).toMatch(/^GRANT_REFUSED/);
  expect(await server.calls()[0]?.broken).toBe(true);
  await stage.worker.report(run, { 1: ["run.failed", { error: "stopped", code: "cancelled" }] });
});
