// Revision 2026-07-28: one request, one answer, no session.

import { describe, expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { completed, delta, failed } from "../../clients/typescript/src/worker/runner.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { ask, messagesOf, offer, send, setMcpStage, version } from "./stage.ts";

test("a client discovers the service, lists the agents and calls one", async () => {
  const { service, provider } = await setMcpStage({ agentPresets: ['helper={"model":"gpt-4o"}'] });
  const discovered = await ask(service.url, "server/discover");
  expect(discovered.result).toMatchObject({
    resultType: "complete",
    supportedVersions: [version],
    capabilities: { tools: { listChanged: true }, extensions: { "io.modelcontextprotocol/tasks": {} } },
    cacheScope: "private",
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "runnel" } },
  });
  const listed = await ask(service.url, "tools/list");
  expect(listed.result).toMatchObject({
    tools: [{ name: "helper", inputSchema: { required: ["message"] } }],
    ttlMs: expect.any(Number),
    cacheScope: "private",
  });
  const progress = Promise.withResolvers<void>();
  provider.respond(async (wire) => {
    wire.text("Paris");
    await progress.promise;
    wire.done("stop");
  });
  const call = { name: "helper", arguments: { message: "The capital of France?" } };
  const response = await send(service.url, "tools/call", call, { meta: { progressToken: "p" } });
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  expect(response.headers.get("x-accel-buffering")).toBe("no");
  const messages = await messagesOf(response, progress.resolve);
  const result = messages.at(-1)?.result;
  expect(result).toMatchObject({
    resultType: "complete",
    content: [{ type: "text", text: "Paris" }],
    structuredContent: { run_id: expect.any(String), session_id: expect.any(String), state: "completed" },
  });
  const steps = messages.slice(0, -1).map(({ method, params }) => [method, params?.progressToken, params?.progress]);
  expect(steps.length).toBeGreaterThan(0);
  expect(steps.every(([method, token]) => method === "notifications/progress" && token === "p")).toBe(true);
  const numbers = steps.map(([, , progress]) => Number(progress));
  expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other));

  provider.respond(answer("Berlin"));
  const next = { message: "And of Germany?", session_id: result.structuredContent.session_id };
  const second = await ask(service.url, "tools/call", { name: "helper", arguments: next });
  expect(second.result.structuredContent.session_id).toBe(result.structuredContent.session_id);
  expect(provider.requests.at(-1)?.body).toMatchObject({
    messages: [{ content: "The capital of France?" }, { content: "Paris" }, { content: "And of Germany?" }],
  });
});

test("a client that takes JSON alone gets JSON", async () => {
  const { service, provider } = await setMcpStage();
  provider.respond(answer("yes"));
  const call = { name: "default", arguments: { message: "Is it?" } };
  const response = await send(service.url, "tools/call", call, { headers: { accept: "application/json" } });
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  expect((await messagesOf(response))[0]?.result.content).toEqual([{ type: "text", text: "yes" }]);
});

const good = {
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe("refusals", () => {
  test.each([
    ["no _meta", { _meta: {} }, {}, 400, -32602],
    ["no capabilities", { _meta: { "io.modelcontextprotocol/protocolVersion": version } }, {}, 400, -32602],
    ["another version in the header", {}, { "mcp-protocol-version": "2027-01-01" }, 400, -32020],
    ["no method in the headers", {}, { "mcp-method": undefined }, 400, -32020],
    ["another method in the header", {}, { "mcp-method": "tools/call" }, 400, -32020],
    [
      "a version of the future",
      { _meta: { ...good, "io.modelcontextprotocol/protocolVersion": "2027-01-01" } },
      { "mcp-protocol-version": "2027-01-01" },
      400,
      -32022,
    ],
  ])("%s", async (_what, params, headers, status, code) => {
    const { service } = await setMcpStage();
    const response = await send(service.url, "tools/list", params, { headers });
    expect([response.status, ((await response.json()) as { error: { code: number } }).error.code]).toEqual([
      status,
      code,
    ]);
  });

  test("a method that does not exist is 404, with the id of the request", async () => {
    const { service } = await setMcpStage();
    for (const method of ["initialize", "ping", "logging/setLevel", "tasks/list", "tasks/result", "constructor"]) {
      const response = await send(service.url, method);
      expect([method, response.status, await response.json()]).toMatchObject([
        method,
        404,
        { id: 1, error: { code: -32601 } },
      ]);
    }
  });

  test("Mcp-Name repeats the name, in base64 too", async () => {
    const { service, provider } = await setMcpStage();
    const call = { name: "default", arguments: { message: "hi" } };
    const wrong = await send(service.url, "tools/call", call, { headers: { "mcp-name": "other" } });
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { error: { code: -32020 } }]);
    provider.respond(answer("hello"));
    const encoded = `=?base64?${Buffer.from("default").toString("base64")}?=`;
    expect((await ask(service.url, "tools/call", call, { headers: { "mcp-name": encoded } })).result.isError).toBe(
      undefined,
    );
  });

  test("no key is 401 with a challenge; a page of another origin is 403, with a good key too", async () => {
    const { service } = await setMcpStage();
    const noKey = await send(service.url, "tools/list", {}, { headers: { authorization: undefined } });
    expect([noKey.status, noKey.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="runnel"']);
    const foreign = await send(service.url, "tools/list", {}, { headers: { origin: "https://evil.example" } });
    expect(foreign.status).toBe(403);
    const own = await send(service.url, "tools/list", {}, { headers: { origin: service.url } });
    expect(own.status).toBe(200);
    for (const method of ["GET", "DELETE"]) {
      const headers = { ...credentialsOf(), "mcp-protocol-version": version };
      expect((await fetch(`${service.url}/mcp`, { method, headers })).status).toBe(405);
    }
  });

  test("wrong arguments are a result that the model reads", async () => {
    const { service } = await setMcpStage();
    for (const args of [
      {},
      { message: "" },
      { message: 1 },
      { message: "x", session_id: "no such" },
      { message: "x", session_id: "unknown" },
      { message: "x", sesion_id: "misspelt, which would begin another conversation" },
    ]) {
      const { result } = await ask(service.url, "tools/call", { name: "default", arguments: args });
      expect(result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(/^(message|ses+ion_id): /) }],
      });
    }
    const unknown = await ask(service.url, "tools/call", { name: "nobody", arguments: { message: "x" } });
    expect(unknown.error?.code).toBe(-32602);
  });
});

test("a runner is a tool by its binding; its artifacts and its failure are results", async () => {
  const { service } = await setMcpStage();
  const png = Buffer.from("not really an image").toString("base64");
  await offer(
    service,
    {
      painter: async function* ({ context }) {
        const made = { content_base64: png, size_bytes: 19 };
        yield { type: "artifact.created", data: { artifact_type: "image", mime_type: "image/png", ...made } };
        yield {
          type: "artifact.created",
          data: { artifact_type: "file", artifact_id: "notes", mime_type: "text/plain", ...made },
        };
        yield completed(`painted ${context.input?.text}`);
      },
      breaker: async function* () {
        yield failed("no paint");
      },
    },
    { metadata: { painter: { input_schema: { type: "object", properties: { color: { type: "string" } } } } } },
  );
  const { result: list } = await ask(service.url, "tools/list");
  expect(list.tools.map(({ name }: { name: string }) => name)).toEqual(["default", "breaker", "painter"]);
  expect(list.tools[2]).toMatchObject({ title: "A runner of the tests", inputSchema: { properties: { color: {} } } });
  const painted = await ask(service.url, "tools/call", { name: "painter", arguments: { color: "red" } });
  const runId = painted.result.structuredContent.run_id;
  expect(painted.result.content).toEqual([
    { type: "text", text: 'painted {"color":"red"}' },
    { type: "image", data: png, mimeType: "image/png" },
    {
      type: "resource",
      resource: { uri: `runnel://runs/${runId}/artifacts/notes`, mimeType: "text/plain", text: "not really an image" },
    },
  ]);
  const broken = await ask(service.url, "tools/call", { name: "breaker", arguments: { message: "go" } });
  expect(broken.result).toMatchObject({ isError: true, structuredContent: { state: "failed" } });
  expect(broken.result.content[0].text).toContain("no paint");

  const uri = `runnel://runs/${runId}/artifacts/notes`;
  const read = await ask(service.url, "resources/read", { uri });
  expect(read.result.contents).toEqual([{ uri, mimeType: "text/plain", text: "not really an image" }]);
  const log = await ask(service.url, "resources/read", { uri: `runnel://runs/${runId}/log` });
  expect(log.result.contents[0].text.trim().split("\n")).toHaveLength(3);
  const listed = await ask(service.url, "resources/list");
  expect(listed.result.resources.map((each: { uri: string }) => each.uri)).toContain(`runnel://runs/${runId}/log`);
  const missing = await ask(service.url, "resources/read", { uri: "runnel://runs/nothing/log" });
  expect(missing.error).toMatchObject({ code: -32602, data: { uri: "runnel://runs/nothing/log" } });
});

test("a log above a mebibyte is several resources, each of which names the next one", async () => {
  const { service } = await setMcpStage();
  await offer(service, {
    talker: async function* () {
      for (let count = 0; count < pieces; count++) {
        yield { type: "message.completed", data: { message: { role: "assistant", content: "x".repeat(90_000) } } };
      }
      yield completed("done");
    },
  });
  const called = await ask(service.url, "tools/call", { name: "talker", arguments: { message: "go" } });
  const sequences: number[] = [];
  let reads = 0;
  let next: string | undefined = `runnel://runs/${called.result.structuredContent.run_id}/log`;
  while (next !== undefined) {
    const { result } = await ask(service.url, "resources/read", { uri: next });
    const lines: string[] = result.contents[0].text.trim().split("\n");
    const entries = lines.map((line) => JSON.parse(line));
    next = entries.at(-1).next;
    sequences.push(...entries.flatMap(({ sequence }) => (sequence === undefined ? [] : [Number(sequence)])));
    reads += 1;
  }
  expect(reads).toBeGreaterThan(1);
  expect(sequences.length).toBeGreaterThan(pieces);
  expect(sequences).toEqual(sequences.map((_, index) => index + 1));
});

const pieces = 20;

test("a client that leaves cancels its run", async () => {
  const { service } = await setMcpStage();
  const grpc = new GrpcClient(service.target);
  await offer(service, {
    slow: async function* ({ signal }) {
      yield delta("begun");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield failed("cancelled", { code: "cancelled" });
    },
  });
  const leaving = new AbortController();
  const call = { name: "slow", arguments: { message: "go" } };
  const response = await send(service.url, "tools/call", call, { meta: { progressToken: 1 }, signal: leaving.signal });
  const reader = response.body?.getReader();
  await reader?.read();
  await until(
    "the run",
    async () => (await grpc.call(RunService.method.listRuns, {})).runs[0]?.state === Run_State.RUNNING,
  );
  leaving.abort();
  await until(
    "its end",
    async () => (await grpc.call(RunService.method.listRuns, {})).runs[0]?.state === Run_State.CANCELLED,
  );
});

test("an approval is a question to the client's people, and the repeated call goes on", async () => {
  const tools = { builtin: ["list_dir"], approve: ["list_dir"] };
  const { service, provider } = await setMcpStage({
    agentPresets: [`careful=${JSON.stringify({ tools })}`, "other={}"],
  });
  provider.respond(callTools({ id: "c1", name: "list_dir", arguments: "{}" }), answer("I may not."));
  const call = { name: "careful", arguments: { message: "List it." } };
  const capabilities = { elicitation: {} };
  const asked = await ask(service.url, "tools/call", call, { capabilities });
  expect(asked.result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
  const [[approvalId = "", question] = []] = Object.entries(asked.result.inputRequests);
  expect(question).toMatchObject({ method: "elicitation/create", params: { mode: "form" } });
  const { requestState } = asked.result;
  const stolen = await ask(
    service.url,
    "tools/call",
    { ...call, requestState, inputResponses: {} },
    { capabilities, clientId: "stranger" },
  );
  expect(stolen.error?.code).toBe(-32602);
  const renamed = { ...call, name: "other", requestState, inputResponses: {} };
  expect((await ask(service.url, "tools/call", renamed, { capabilities })).error?.code).toBe(-32602);
  const inputResponses = { [approvalId]: { action: "accept", content: { confirm: false, comment: "not now" } } };
  const done = await ask(service.url, "tools/call", { ...call, requestState, inputResponses }, { capabilities });
  expect(done.result).toMatchObject({ resultType: "complete", content: [{ text: "I may not." }] });
  expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain("not now");
});
